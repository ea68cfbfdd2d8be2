// SPDX-License-Identifier: Apache-2.0
#include "planning/program/plan_text.hpp"

#include <charconv>

#include "base/text/format.hpp"
#include "coset/error.hpp"
#include "planning/program/program.hpp"
#include "planning/schedule/registry/algorithm.hpp"

namespace coset::inline COSET_ABI {

plan_options plan_named(std::string_view text) {
  plan_options made;
  std::string_view const whole = text;
  // Files that an algorithm names may lie in folders.
  auto const folders_end = [&] {
    auto const open = text.find('('), close = text.rfind(')');
    return open < text.find('/') && close != std::string_view::npos ? close : 0;
  };
  auto const next = [&] {
    auto const end = text.find('/', folders_end());
    std::string_view const part = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    return part;
  };
  try {
    if (auto const name = next(); name != "auto" && !name.empty()) {
      auto const parsed = schedule::algorithm::parse(name);
      schedule::find_algorithm(parsed.name);
      made.algorithm = parsed.text();
    }
    if (auto const storage = next(); storage != "auto" && !storage.empty())
      made.storage = program::policy_name(program::parse_policy(std::string(storage)));
    if (!text.empty()) made.segment_bytes = program::parse_bytes(next());
  } catch (error const& e) {
    throw schedule_error(text::format("plan '{}': {}", whole, e.what()));
  }
  if (!text.empty()) throw schedule_error(text::format("plan '{}' has more than algorithm/storage/segment", whole));
  return made;
}

}  // namespace coset

namespace coset::program {

std::string text_of(plan_options const& options) {
  std::string text = options.algorithm + "/" + options.storage;
  if (options.segment_bytes != 0) text += text::format("/{}", options.segment_bytes);
  return text;
}

std::size_t parse_bytes(std::string_view text) {
  std::size_t bytes = 0;
  auto const [end, failure] = std::from_chars(text.data(), text.data() + text.size(), bytes);
  std::string_view const unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  auto const shift = unit.empty()                 ? 0
                     : unit == "k" || unit == "K" ? 10
                     : unit == "m" || unit == "M" ? 20
                     : unit == "g" || unit == "G" ? 30
                                                  : -1;
  if (failure != std::errc() || shift < 0 || bytes > SIZE_MAX >> shift)
    throw argument_error(text::format("'{}' is not a number of bytes: write 512, 32K, 4M or 1G", text));
  return bytes << shift;
}

}  // namespace coset::program
