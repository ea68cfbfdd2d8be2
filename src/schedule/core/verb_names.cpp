// SPDX-License-Identifier: Apache-2.0
// Verbs by name.
#include "coset/verbs/verb.hpp"

#include <algorithm>
#include <array>
#include <ranges>

#include "coset/error.hpp"
#include "text/format.hpp"

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

std::string_view name_of(verb what) noexcept {
  return static_cast<std::size_t>(what) < verb_rows.size() ? detail::row_of(what).name : "?";
}

verb verb_named(std::string_view name) {
  auto const at = std::ranges::find(verb_rows, name, &detail::verb_row::name);
  if (at != verb_rows.end()) return at->what;
  throw argument_error(text::format("'{}' is none of {}", name,
                                    text::joined(verb_rows | std::views::transform(&detail::verb_row::name), ", ")));
}

}  // namespace coset
