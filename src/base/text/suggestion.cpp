// SPDX-License-Identifier: Apache-2.0
// By the distance of Damerau and Levenshtein, of words in which no letter is exchanged twice.
#include "base/text/suggestion.hpp"

#include <algorithm>
#include <numeric>

#include "base/text/format.hpp"

namespace coset::text {
namespace {

std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1), above = row, before = row;
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before.swap(above);
    above.swap(row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (a[i - 1] != b[j - 1] ? 1 : 0)});
      bool const exchanged = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (exchanged) row[j] = std::min(row[j], before[j - 2] + 1);
    }
  }
  return row.back();
}

}  // namespace

std::string nearest(std::string_view word, std::vector<std::string> const& known) {
  return *std::ranges::min_element(known, {}, [word](std::string const& k) { return distance(word, k); });
}

std::string did_you_mean(std::string_view word, std::vector<std::string> const& known) {
  if (known.empty()) return "";
  auto const meant = nearest(word, known);
  bool const is_near = distance(word, meant) * 3 <= std::max(word.size(), meant.size());
  return is_near ? format("; did you mean '{}'?", meant) : "";
}

std::string none_of(std::string_view word, std::vector<std::string> const& known) {
  return format("'{}' is none of {}{}", word, joined(known, ", "), did_you_mean(word, known));
}

}  // namespace coset::text
