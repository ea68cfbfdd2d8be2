// SPDX-License-Identifier: Apache-2.0
// Ranges read and asked.
#include "lab/reproduce/range.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>

#include "coset/error.hpp"

namespace coset::cli::reproduction {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

std::string_view trimmed(std::string_view text) {
  auto const first = text.find_first_not_of(' ');
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

std::optional<double> number_in(std::string_view text) {
  text = trimmed(text);
  double value = 0;
  auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// What comes after `word`, if the text begins with it.
std::optional<std::string_view> after(std::string_view word, std::string_view text) {
  if (text.substr(0, word.size()) != word) return std::nullopt;
  return text.substr(word.size());
}

}  // namespace

range::part range::part_of(std::string_view text) {
  text = trimmed(text);
  if (auto const rest = after("not ", text)) {
    auto made = part_of(*rest);
    made.is_complement = !made.is_complement;
    return made;
  }
  struct sign {
    char const* word;
    bool has_least, has_most, is_above, is_below;
  };
  constexpr std::array signs{sign{"<=", false, true, false, true}, sign{">=", true, false, true, false},
                             sign{"<", false, false, false, true}, sign{">", false, false, true, false},
                             sign{"=", true, true, true, true}};
  for (sign const& one : signs)
    if (auto const rest = after(one.word, text))
      if (auto const value = number_in(*rest))
        return {one.is_above ? *value : -infinity, one.is_below ? *value : infinity, one.has_least, one.has_most,
                false};
  if (auto const dots = text.find(".."); dots != std::string_view::npos) {
    auto const least = number_in(text.substr(0, dots)), most = number_in(text.substr(dots + 2));
    if (least && most && *least <= *most) return {*least, *most, true, true, false};
  }
  throw argument_error(fmt::format(
      "'{}' is no range of numbers; wanted are '= x', '< x', '<= x', '> x', '>= x', 'x..y', 'not …', '… or …'", text));
}

range::range(std::string_view text) : text_(text) {
  for (std::size_t from = 0; from != std::string_view::npos;) {
    auto const end = text.find(" or ", from);
    parts_.push_back(part_of(text.substr(from, end == std::string_view::npos ? end : end - from)));
    from = end == std::string_view::npos ? end : end + 4;
  }
}

bool range::has(double value) const {
  // What is counted in fractions and what is priced differ from whole numbers by rounding alone.
  double const close = std::isfinite(value) ? 1e-9 * std::max(1.0, std::abs(value)) : 0;
  return std::ranges::any_of(parts_, [&](part const& p) {
    bool const above = p.has_least ? value >= p.least - close : value > p.least + close;
    bool const below = p.has_most ? value <= p.most + close : value < p.most - close;
    bool const is_in = (p.least == -infinity || above) && (p.most == infinity || below);
    return is_in != p.is_complement;
  });
}

}  // namespace coset::cli::reproduction
