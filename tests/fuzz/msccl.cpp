// SPDX-License-Identifier: Apache-2.0
// MSCCL's XML: what is read is proved or refuted; what is proved can be written as Plan JSON and read again.
#include <sstream>

#include "answers.hpp"
#include "lab/foreign/foreign.hpp"
#include "planning/schedule/files/plan_json.hpp"

namespace {

using namespace coset::schedule;

std::string written(schedule const& plan) {
  std::ostringstream out;
  write_plan(out, plan, validate(plan));
  return out.str();
}

void run(std::string_view input) {
  std::istringstream in{std::string(input)};
  std::string const text = written(read_msccl(in, "input"));
  std::istringstream again(text);
  coset::test::demand(written(read_plan(again, "input").plan) == text, "a plan that was written and read is that plan");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  coset::test::answers([&] { run(coset::test::text_of(data, size)); });
  return 0;
}
