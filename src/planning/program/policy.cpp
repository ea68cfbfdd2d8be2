// SPDX-License-Identifier: Apache-2.0
// The storage policies by name.

#include <array>
#include <string_view>
#include <utility>

#include "base/text/format.hpp"
#include "base/text/suggestion.hpp"
#include "planning/program/program.hpp"

namespace coset::program {
namespace {

using enum area;
using enum copies;

/// What each is good for is measured by the benchmarks; see the README of this folder.
constexpr std::array named{
    std::pair{"staged", policy{staging, staging, forward}},
    std::pair{"staged_pull", policy{staging, staging, pull}},
    std::pair{"zero_copy", policy{input, output, forward}},
    std::pair{"zero_copy_pull", policy{input, output, pull}},
    std::pair{"zero_copy_push", policy{input, output, push}},
    std::pair{"zero_copy_store", policy{input, output, store}},
    std::pair{"pull", policy{input, staging, pull}},
    std::pair{"forward", policy{input, staging, forward}},
    std::pair{"output", policy{output, output, forward}},
    std::pair{"output_pull", policy{output, output, pull}},
    std::pair{"push", policy{staging, staging, push}},
    std::pair{"staged_in", policy{staging, output, forward}},
    std::pair{"output_push", policy{output, output, push}},
};

constexpr std::string_view streaming = "+stream", returning = "+return", offloading = "+library";

/// Cuts `suffix` off the end of `name` if it is there.
bool take_suffix(std::string_view& name, std::string_view suffix) {
  bool const there = name.ends_with(suffix);
  if (there) name.remove_suffix(suffix.size());
  return there;
}

}  // namespace

std::vector<std::string> policy_names() {
  std::vector<std::string> names;
  for (auto const& [name, what] : named) names.emplace_back(name);
  return names;
}

policy parse_policy(std::string const& name) {
  std::string_view base = name;
  bool const offloads = take_suffix(base, offloading), returns = take_suffix(base, returning),
             streams = take_suffix(base, streaming);
  for (auto [known, what] : named) {
    what.streams = streams;
    what.returns = returns;
    what.offloads = offloads;
    if (base == known) return what;
  }
  throw schedule_error(text::format("unknown storage '{}'; there are {}, each also with {}, {}, {}, in this order{}",
                                    name, text::joined(policy_names(), ", "), streaming, returning, offloading,
                                    text::did_you_mean(base, policy_names())));
}

std::string policy_name(policy const& p) {
  for (auto const& [name, what] : named) {
    if (what.first == p.first && what.later == p.later && what.how == p.how)
      return text::format("{}{}{}{}", name, p.streams ? streaming : "", p.returns ? returning : "",
                          p.offloads ? offloading : "");
  }
  return "unnamed";
}

}  // namespace coset::program
