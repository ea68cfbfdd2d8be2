// SPDX-License-Identifier: Apache-2.0
// Text by fmt's rules, which are checked where it is written down, compiled in one place: fmt itself takes four seconds of
// each file that formats.
#pragma once

#include <fmt/core.h>

#include <ranges>
#include <string>
#include <utility>

namespace coset::text {

/// At the end of `to`.
void append_erased(std::string& to, fmt::string_view pattern, fmt::format_args);

template <class... Arguments>
void append(std::string& to, fmt::format_string<Arguments...> pattern, Arguments&&... arguments) {
  append_erased(to, fmt::string_view(pattern), fmt::make_format_args(arguments...));
}

/// As fmt::format().
template <class... Arguments>
std::string format(fmt::format_string<Arguments...> pattern, Arguments&&... arguments) {
  std::string text;
  append_erased(text, fmt::string_view(pattern), fmt::make_format_args(arguments...));
  return text;
}

/// All elements as {} shows them.
template <std::ranges::input_range Range>
std::string joined(Range const& range, fmt::string_view between) {
  std::string text;
  bool first = true;
  for (auto const& each : range) {
    if (!std::exchange(first, false)) text.append(between.data(), between.size());
    append(text, "{}", each);
  }
  return text;
}

/// A line on standard error.
void complain(std::string const& line);

}  // namespace coset::text
