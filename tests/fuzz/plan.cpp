// SPDX-License-Identifier: Apache-2.0
// Plan JSON: what is read is proved or refuted; what is proved can be written, read again, drawn and generated for others.
#include <sstream>

#include "answers.hpp"
#include "command/shown/draw.hpp"
#include "lab/foreign/foreign.hpp"
#include "planning/schedule/files/plan_json.hpp"

namespace {

using namespace coset::schedule;

std::string written(schedule const& plan) {
  std::ostringstream out;
  write_plan(out, plan, validate(plan));
  return out.str();
}

schedule read(std::string const& text) {
  std::istringstream in(text);
  return read_plan(in, "input").plan;
}

void run(std::string_view input) {
  schedule const plan = read(std::string(input));
  std::string const text = written(plan);
  coset::test::demand(written(read(text)) == text, "a plan that was written and read is that plan");
  coset::test::demand(!mpi_routine(plan).empty() && !goal(plan, {1000, 1}).empty() && !replay_trace(plan, {}).empty(),
                      "a proved plan can be generated for other programs");
  coset::test::demand(!draw_text(plan).empty() && !draw_dot(plan).empty() && !draw_svg(plan).empty(),
                      "a proved plan can be drawn");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  coset::test::answers([&] { run(coset::test::text_of(data, size)); });
  return 0;
}
