// SPDX-License-Identifier: Apache-2.0
// Tuning profiles: refused naming the file, or read.
#include "planning/calibration/profile.hpp"
#include "answers.hpp"
#include "planning/program/plan_text.hpp"

namespace {

using namespace coset;

void run(std::string_view input) {
  test::memory_file const file(input);
  auto const found = calibration::profile::read(file.name());
  for (calibration::rule const& r : found.rules)
    test::demand(!name_of(r.what).empty() && !program::text_of(r.how).empty(), "rules have names");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  coset::test::answers([&] { run(coset::test::text_of(data, size)); });
  return 0;
}
