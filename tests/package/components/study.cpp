// SPDX-License-Identifier: Apache-2.0
// A program that looks at schedules and reduces nothing.
#include <coset/study/schedules.hpp>
#include <cstdio>

int main() {
  coset::study::named_schedule const ring{"ring", 4};
  if (coset::study::json(ring).find("\"coset_plan\"") == std::string::npos) return 1;
  if (coset::study::text(ring).empty() || coset::study::svg(ring).find("<svg") == std::string::npos) return 2;
  // Six steps of a quarter of the vector each.
  double const seconds = coset::study::seconds(ring, 400, {.latency = 1, .per_byte = 0.01});
  if (seconds < 11.9 || seconds > 12.1) return 3;
  try {
    coset::study::text({"rang", 4});
  } catch (coset::schedule_error const& e) {
    std::puts(e.what());
    return 0;
  }
  return 4;
}
