// SPDX-License-Identifier: Apache-2.0
// Schedules for simulators: GOAL and SimGrid's time-independent traces.
#include <algorithm>
#include <string>
#include <vector>

#include "base/text/format.hpp"
#include "lab/foreign/foreign.hpp"
#include "lab/foreign/messages.hpp"

namespace coset::schedule {
namespace {

/// One rank's part of one step.
struct turn {
  struct end {
    rank_t peer;
    std::uint64_t bytes;
  };
  std::vector<end> receives, sends;
  double combines = 0;  ///< nanoseconds or flops
  bool assigns = false;

  bool is_idle() const { return receives.empty() && sends.empty() && !assigns; }
};

/// Empty messages do not exist in either language, but somebody waits for them.
std::uint64_t length_of(message const& m, cuts const& bytes) { return std::max<std::uint64_t>(bytes.length(m), 1); }

/// [rank][step]
std::vector<std::vector<turn>> turns_of(schedule const& of, simulated_size const& size) {
  cuts const bytes(of, size.bytes);
  auto const messages = messages_of(of);
  std::vector<std::vector<turn>> all(of.ranks, std::vector<turn>(of.steps.size()));
  for (std::size_t i = 0; i < of.steps.size(); ++i) {
    for (message const& m : messages[i]) {
      all[m.from][i].sends.push_back({m.to, length_of(m, bytes)});
      all[m.to][i].receives.push_back({m.from, length_of(m, bytes)});
    }
    for (assignment const& a : of.steps[i]) {
      all[a.rank][i].assigns = true;
      all[a.rank][i].combines +=
          size.combine_per_byte * static_cast<double>(bytes.length(a.block)) * static_cast<double>(a.count - 1);
    }
  }
  return all;
}

/// Labels begin anew with each rank. What a rank has at the end of a step is one label: with P peers in a step and in the
/// next there would be P² needs otherwise.
void append_goal(std::string& to, std::vector<turn> const& turns) {
  std::size_t label = 0, ready = 0;  // 0: none
  auto const needs = [&](std::size_t what) {
    if (what != 0) text::append(to, "l{} requires l{}\n", label, what);
  };
  for (std::size_t i = 0; i < turns.size(); ++i) {
    if (turns[i].is_idle()) continue;
    for (auto const& [peer, bytes] : turns[i].sends) {
      text::append(to, "l{}: send {}b to {} tag {}\n", ++label, bytes, peer, i);
      needs(ready);
    }
    std::size_t const first = label + 1;
    for (auto const& [peer, bytes] : turns[i].receives) {
      text::append(to, "l{}: recv {}b from {} tag {}\n", ++label, bytes, peer, i);
      needs(ready);
    }
    std::size_t const last = label;
    if (turns[i].receives.empty() && !turns[i].assigns) continue;  // sends are looked after by the network
    text::append(to, "l{}: calc {:.0f}\n", ++label, turns[i].combines);
    for (std::size_t received = first; received <= last; ++received) needs(received);
    if (first > last) needs(ready);
    ready = label;
  }
}

}  // namespace

std::string goal(schedule const& of, simulated_size size) {
  auto const turns = turns_of(of, size);
  std::string all = text::format("num_ranks {}\n", of.ranks);
  for (rank_t r = 0; r < of.ranks; ++r) {
    text::append(all, "\nrank {} {{\n", r);
    append_goal(all, turns[r]);
    all += "}\n";
  }
  return all;
}

std::string replay_trace(schedule const& of, simulated_size size) {
  auto const turns = turns_of(of, size);
  std::string all;
  for (rank_t r = 0; r < of.ranks; ++r) {
    text::append(all, "{} init\n", r);
    for (std::size_t i = 0; i < of.steps.size(); ++i) {
      turn const& now = turns[r][i];
      for (auto const& [peer, bytes] : now.receives) text::append(all, "{} irecv {} {} {}\n", r, peer, i, bytes);
      for (auto const& [peer, bytes] : now.sends) text::append(all, "{} isend {} {} {}\n", r, peer, i, bytes);
      if (!now.receives.empty() || !now.sends.empty()) text::append(all, "{} waitall\n", r);
      if (now.combines > 0) text::append(all, "{} compute {:.0f}\n", r, now.combines);
    }
    text::append(all, "{} finalize\n", r);
  }
  return all;
}

}  // namespace coset::schedule
