// SPDX-License-Identifier: Apache-2.0
// Every element type with every operation that it takes: what random collectives draw from.
#pragma once

#include "support/combination.hpp"

namespace coset::team_test {

template <class T, class... Ops>
void combine_all(std::vector<combination>& all) {
  (all.push_back(combine<T>(Ops{})), ...);
}

template <class T>
void combine_integer(std::vector<combination>& all) {
  combine_all<T, plus, multiplies, minimum, maximum, bit_and, bit_or, bit_xor, logical_and, logical_or, logical_xor>(
      all);
}

inline std::vector<combination> const& all_combinations() {
  static std::vector<combination> const all = [] {
    std::vector<combination> made;
    combine_integer<std::int8_t>(made);
    combine_integer<std::int16_t>(made);
    combine_integer<std::int32_t>(made);
    combine_integer<std::int64_t>(made);
    combine_integer<std::uint8_t>(made);
    combine_integer<std::uint16_t>(made);
    combine_integer<std::uint32_t>(made);
    combine_integer<std::uint64_t>(made);
    combine_all<float16, plus, multiplies, minimum, maximum>(made);
    combine_all<bfloat16, plus, multiplies, minimum, maximum>(made);
    combine_all<float, plus, multiplies, minimum, maximum, reproducible_plus>(made);
    combine_all<double, plus, multiplies, minimum, maximum, reproducible_plus>(made);
    combine_all<std::complex<float>, plus, multiplies>(made);
    combine_all<std::complex<double>, plus, multiplies>(made);
    combine_all<bool, logical_and, logical_or, logical_xor>(made);
    combine_all<located<float>, minimum_location, maximum_location>(made);
    combine_all<located<std::int16_t, std::int16_t>, minimum_location, maximum_location>(made);
    made.push_back(combine<seven>(bytewise_sum{}));
    made.push_back(combine<affine>(noncommutative(composition{})));
    made.push_back(combine<affine>(exact(noncommutative(composition{}))));
    return made;
  }();
  return all;
}

}  // namespace coset::team_test
