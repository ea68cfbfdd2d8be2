// SPDX-License-Identifier: Apache-2.0
#include "lab/foreign/messages.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/text/format.hpp"
#include "planning/schedule/core/events.hpp"
#include "planning/schedule/registry/algorithm.hpp"

namespace coset::schedule {

std::vector<std::vector<message>> messages_of(schedule const& of) {
  std::vector<std::vector<message>> all(of.steps.size());
  std::set<std::tuple<rank_t, rank_t, message_piece>> read;
  for (std::size_t i = 0; i < of.steps.size(); ++i) {
    std::map<std::pair<rank_t, rank_t>, std::vector<message_piece>> pairs;
    for (assignment const& a : of.steps[i])
      for (source const& s : of.from(a)) {
        message_piece const value{a.block, s.slot};
        if (s.rank != a.rank && read.emplace(s.rank, a.rank, value).second) pairs[{s.rank, a.rank}].push_back(value);
      }
    for (auto& [ends, pieces] : pairs) {
      std::ranges::sort(pieces);
      all[i].push_back({ends.first, ends.second, std::move(pieces)});
    }
  }
  return all;
}

cuts::cuts(schedule const& of, std::uint64_t length) {
  units const parts(of);
  auto const denominator = static_cast<std::uint64_t>(parts.denominator);
  if (denominator > most_parts) throw schedule_error("the sizes of the blocks have no common unit above 2^-31");
  std::uint64_t before = 0;  // in parts
  auto const cut = [&] {     // whole vectors of `denominator` first, so that products fit
    begins_.push_back(length / denominator * before + length % denominator * before / denominator);
  };
  for (std::int64_t const size : parts.size) {
    cut();
    before += static_cast<std::uint64_t>(size);
  }
  cut();
}

std::uint64_t cuts::length(message const& of) const {
  std::uint64_t sum = 0;
  for (message_piece const& p : of.pieces) sum += length(p.block);
  return sum;
}

std::string title_of(schedule const& of) {
  std::string name = algorithm{of.algorithm, of.parameters}.text();
  for (char& c : name)
    if (c < ' ' || c > '~' || c == '*' || c == '<' || c == '>') c = '_';  // nothing but ASCII
  for (auto at = name.find("--"); at != std::string::npos; at = name.find("--")) name.erase(at, 1);
  return text::format("{}, {}{} on {} ranks", name, name_of(of.verb),
                      of.root ? text::format(" to or from rank {}", *of.root) : "", of.ranks);
}

}  // namespace coset::schedule
