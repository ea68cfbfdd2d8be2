// SPDX-License-Identifier: Apache-2.0
// Hosts that each compile their own part, executed together: in one thread, messages in the order in which they are sent.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <deque>
#include <map>
#include <random>
#include <utility>

#include "program/parts/hosts.hpp"

namespace coset::program::testing {

/// Messages on their way, by sender and receiver.
using network = std::map<std::pair<rank_t, rank_t>, std::deque<std::vector<element>>>;

class host {
 public:
  host(compiled code, layout where, rank_t first, std::size_t count)
      : code_(std::move(code)), where_(std::move(where)), first_(first), ranks_(static_cast<rank_t>(code_.of.size())) {
    at_.assign(ranks_, 0);
    signalled_.assign(ranks_, 0);
    input.assign(ranks_, std::vector<element>(count));
    output.assign(ranks_, std::vector<element>(count));
    staging_.assign(ranks_, std::vector<element>(where_.staging_bytes / sizeof(element)));
  }

  /// Whether any rank got on.
  bool run(network& net) {
    bool moved = false;
    for (rank_t r = 0; r < ranks_; ++r) {
      while (step(r, net)) moved = true;
    }
    return moved;
  }
  bool done() const {
    for (rank_t r = 0; r < ranks_; ++r) {
      if (at_[r] < code_.of[r].code.size()) return false;
    }
    return true;
  }
  compiled const& code() const { return code_; }
  rank_t first() const { return first_; }

  std::vector<std::vector<element>> input, output;

 private:
  bool step(rank_t r, network& net) {
    program const& p = code_.of[r];
    if (at_[r] == p.code.size()) return false;
    instruction const& i = p.code[at_[r]];
    std::uint32_t const waits = at_[r] == 0 ? 0 : p.code[at_[r] - 1].waits_end;
    for (std::uint32_t w = waits; w < i.waits_end; ++w) {
      if (signalled_[p.waits[w].rank] < p.waits[w].signal) return false;
    }
    if (i.what == action::receive) {
      auto& waiting = net[{i.peer, first_ + r}];
      if (waiting.empty()) return false;
      receive(p, i, waiting.front());
      waiting.pop_front();
    } else if (i.what == action::send) {
      net[{first_ + r, i.peer}].push_back(taken(p, i));
    } else {
      fold(p, i);
    }
    if (i.signal != 0) signalled_[r] = i.signal;
    ++at_[r];
    return true;
  }

  element* place(operand const& o) {
    std::uint32_t const row = o.base[0] / ranks_;
    rank_t const rank = o.base[0] % ranks_;
    auto& of = row == row_input ? input[rank] : row == row_output ? output[rank] : staging_[rank];
    return of.data() + where_.offset[o.piece] / sizeof(element);
  }
  std::size_t length(std::uint32_t block, std::uint32_t end) const {
    return where_.boundary[end] - where_.boundary[block];
  }
  std::size_t length(operand const& o) const {
    auto const block = static_cast<std::uint32_t>(o.piece % code_.blocks.size());
    return length(block, block + 1);
  }

  void receive(program const& p, instruction const& i, std::vector<element> const& message) {
    std::size_t at = 0;
    for (std::uint32_t k = 0; k < i.destinations; ++k) {
      operand const& o = p.operands[i.operands + i.sources + k];
      ASSERT_LE(at + length(o), message.size()) << "what is sent is shorter than what is received";
      std::copy_n(message.begin() + static_cast<std::ptrdiff_t>(at), length(o), place(o));
      at += length(o);
    }
    EXPECT_EQ(at, message.size()) << "what is sent is longer than what is received";
  }
  std::vector<element> taken(program const& p, instruction const& i) {
    std::vector<element> all;
    for (std::uint32_t k = 0; k < i.sources; ++k) {
      operand const& o = p.operands[i.operands + k];
      all.insert(all.end(), place(o), place(o) + length(o));
    }
    return all;
  }
  /// Values whose bracketing shows: a fold of two is another one than that of them in another order.
  void fold(program const& p, instruction const& i) {
    if (i.destinations == 0) return;
    for (std::size_t e = 0; e < length(i.block, i.block_end); ++e) {
      element value = place(p.operands[i.operands])[e];
      for (std::uint32_t k = 1; k < i.sources; ++k) value = combined(value, place(p.operands[i.operands + k])[e]);
      for (std::uint32_t k = 0; k < i.destinations; ++k) place(p.operands[i.operands + i.sources + k])[e] = value;
    }
  }

 public:
  static inline bool brackets = false;
  static element combined(element a, element b) {
    return brackets ? (a * 0x9E3779B97F4A7C15u + 1) ^ (b >> 7) ^ (b << 11) : a + b;
  }

 private:
  compiled code_;
  layout where_;
  rank_t first_, ranks_;
  std::vector<std::size_t> at_;
  std::vector<std::uint32_t> signalled_;
  std::vector<std::vector<element>> staging_;
};

inline std::vector<host> hosts_of(question const& q, std::size_t count) {
  distribution d = spread_over(q.where);
  std::vector<host> all;
  for (d.own = 0; d.own + 1 < d.domains.size(); ++d.own) {
    auto code = compiled_by(q, d);
    auto where = bound(code, q.verb, count, {sizeof(element)});
    all.emplace_back(std::move(code), std::move(where), d.first(), count);
  }
  return all;
}

/// All hosts until nobody gets on; hosts in random order, so that some are far ahead of others.
inline void run(std::vector<host>& hosts, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  network net;
  std::vector<std::size_t> order(hosts.size());
  for (std::size_t h = 0; h < order.size(); ++h) order[h] = h;
  for (bool moved = true; moved;) {
    moved = false;
    std::shuffle(order.begin(), order.end(), random);
    for (std::size_t const h : order) moved |= hosts[h].run(net);
  }
  for (host const& h : hosts) EXPECT_TRUE(h.done()) << "nobody can go on";
  for (auto const& [ends, waiting] : net) EXPECT_TRUE(waiting.empty()) << "a message that nobody receives";
}

}  // namespace coset::program::testing
