// SPDX-License-Identifier: Apache-2.0
// Verbs by name.
#include "coset/verbs/verb.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "base/text/format.hpp"
#include "base/text/suggestion.hpp"
#include "coset/error.hpp"

namespace coset::inline COSET_ABI {
namespace {

using detail::verb_rows;

constexpr auto verbs = [] {
  std::array<verb, verb_rows.size()> all{};
  std::ranges::transform(verb_rows, all.begin(), &detail::verb_row::what);
  return all;
}();

}  // namespace

std::span<verb const> all_verbs() noexcept { return verbs; }

std::string_view name_of(verb what) noexcept { return detail::is_verb(what) ? detail::row_of(what).name : "?"; }

verb verb_named(std::string_view name) {
  std::vector<std::string> all;
  for (detail::verb_row const& row : verb_rows) {
    if (row.name == name) return row.what;
    all.emplace_back(row.name);
  }
  throw argument_error(text::none_of(name, all));
}

}  // namespace coset
