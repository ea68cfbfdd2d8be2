// SPDX-License-Identifier: Apache-2.0
// Reading numbers to the last character.
#include "command/numbers.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>

#include "base/text/suggestion.hpp"

namespace coset::cli {
namespace {

template <typename Number>
std::optional<Number> read(std::string_view text) {
  Number value{};
  auto const [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// The power of 1024 that a unit stands for: "", "B", "K", "KB", "KiB", "M" …, in any case.
std::optional<unsigned> power_of(std::string unit) {
  for (char& c : unit) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (unit.empty() || unit == "b") return 0;
  constexpr std::string_view prefixes = "kmgt";
  auto const at = prefixes.find(unit.front());
  std::string const rest = unit.substr(1);
  if (at == std::string_view::npos || (!rest.empty() && rest != "b" && rest != "ib")) return std::nullopt;
  return static_cast<unsigned>(at) + 1;
}

}  // namespace

std::optional<std::uint64_t> whole_number_in(std::string_view text) { return read<std::uint64_t>(text); }

std::optional<std::uint64_t> byte_size_in(std::string_view text) {
  auto const digits = std::min(text.find_first_not_of("0123456789"), text.size());
  auto const number = whole_number_in(text.substr(0, digits));
  auto const power = power_of(std::string(text.substr(digits)));
  if (!number || !power || *number > most_bytes >> 10 * *power) return std::nullopt;
  return *number << 10 * *power;
}

std::optional<double> seconds_in(std::string_view text) {
  constexpr double most = 1e9;
  auto const value = read<double>(text);
  return value && std::isfinite(*value) && *value >= 0 && *value <= most ? value : std::nullopt;
}

CLI::Validator whole_number(std::uint64_t least, std::uint64_t most) {
  auto const check = [=](std::string& text) {
    auto const number = whole_number_in(text);
    if (number && *number >= least && *number <= most) return std::string();
    return fmt::format("'{}' is not a whole number from {} to {}", text, least, most);
  };
  return {check, ""};
}

CLI::Validator byte_size() {
  auto const read_or_refuse = [](std::string& text) {
    auto const bytes = byte_size_in(text);
    if (!bytes || *bytes == 0)
      return fmt::format("'{}' is not a size from 1 to 1024T; K, M, G and T are powers of 1024", text);
    text = std::to_string(*bytes);
    return std::string();
  };
  return {read_or_refuse, ""};
}

CLI::Validator seconds() {
  auto const check = [](std::string& text) {
    return seconds_in(text) ? std::string() : fmt::format("'{}' is not a number of seconds from 0 to 1e9", text);
  };
  return {check, ""};
}

CLI::Validator one_of(std::vector<std::string> words) {
  auto const shown = fmt::format("{{{}}}", fmt::join(words, ","));
  auto const check = [words = std::move(words)](std::string& text) {
    return std::ranges::find(words, text) != words.end() ? std::string() : text::none_of(text, words);
  };
  return {check, shown};
}

CLI::Option* add_ranks(CLI::App& command, rank_t& ranks, std::string const& meaning) {
  return command.add_option("-t,-r,--ranks", ranks, meaning)->check(whole_number(1, most_ranks));
}

}  // namespace coset::cli
