// SPDX-License-Identifier: Apache-2.0
// Hosts that each compile their own part, executed together: in one thread, messages in the order in which they are sent.
#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <numeric>
#include <random>
#include <set>

#include "program/bind.hpp"
#include "schedule/parts/make_part.hpp"

namespace coset::program::testing {
namespace {

using element = std::uint64_t;
using schedule::collective;

/// What runs where.
struct shape {
  std::vector<rank_t> hosts;
  rank_t carriers = 1;  ///< of each host
};

distribution spread_over(shape const& s) {
  distribution d;
  rank_t first = 0;
  for (rank_t const ranks : s.hosts) {
    d.domains.push_back(first);
    d.processes.push_back({first, std::min(ranks, s.carriers)});
    first += ranks;
  }
  d.domains.push_back(first);
  return d;
}

struct question {
  std::string algorithm;
  shape where;
  collective verb = collective::allreduce;
  rank_t root = 0;
  std::string storage = "staged";
};

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

bool by_pieces(collective verb) { return verb == collective::reduce_scatter || verb == collective::allgather; }

/// Where the ranks' pieces begin in a vector of so many elements: pieces of different lengths, some of them empty.
std::vector<std::size_t> pieces_of(rank_t ranks, std::size_t count) {
  std::vector<std::size_t> at{0};
  for (rank_t r = 0; r < ranks; ++r) at.push_back(std::min(at.back() + r * 7 % 5 * count / ranks / 2, count));
  at.back() = count;
  return at;
}

layout bound(compiled const& code, collective verb, std::size_t count, item_bytes items) {
  if (by_pieces(verb)) return coset::program::bind(code, rank_pieces(pieces_of(code.ranks, count)), items);
  return coset::program::bind(code, count, items);
}

/// As calls have it.
policy storage_of(question const& q) {
  policy storage = parse_policy(q.storage);
  storage.in_place = by_pieces(q.verb);
  return storage;
}

std::vector<host> hosts_of(question const& q, std::size_t count) {
  distribution d = spread_over(q.where);
  std::vector<host> all;
  auto const algorithm = schedule::algorithm::parse(q.algorithm);
  for (d.own = 0; d.own + 1 < d.domains.size(); ++d.own) {
    auto const part = schedule::make_part(algorithm, d.domains, d.own, q.verb, q.root);
    auto code = compile(part, storage_of(q), {}, d);
    auto where = bound(code, q.verb, count, {sizeof(element)});
    all.emplace_back(std::move(code), std::move(where), d.first(), count);
  }
  return all;
}

/// All hosts until nobody gets on; hosts in random order, so that some are far ahead of others.
void run(std::vector<host>& hosts, std::uint64_t seed) {
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

/// Elements that a rank is given, and those that it is to end with; what others have it has no right to.
std::pair<std::size_t, std::size_t> given_to(question const& q, std::vector<std::size_t> const& pieces, rank_t r) {
  if (q.verb == collective::allgather) return {pieces[r], pieces[r + 1]};
  if (q.verb == collective::broadcast && r != q.root) return {0, 0};
  return {0, pieces.back()};
}
std::pair<std::size_t, std::size_t> kept_by(question const& q, std::vector<std::size_t> const& pieces, rank_t r) {
  if (q.verb == collective::reduce_scatter) return {pieces[r], pieces[r + 1]};
  if (q.verb == collective::reduce && r != q.root) return {0, 0};
  return {0, pieces.back()};
}

void expect_right(question const& q, std::size_t count) {
  SCOPED_TRACE(q.algorithm + " " + std::string(name_of(q.verb)) + " " + q.storage);
  auto hosts = hosts_of(q, count);
  auto const pieces = pieces_of(hosts[0].code().ranks, count);
  std::mt19937_64 values(count);
  std::vector<element> result(count, 0), before(count, 0);
  std::vector<std::vector<element>> upto;
  rank_t number = 0;
  for (host& h : hosts) {
    for (std::size_t own = 0; own < h.input.size(); ++own) {
      auto const [begin, end] = given_to(q, pieces, number++);
      for (std::size_t e = begin; e < end; ++e) result[e] += h.input[own][e] = values();
      // In place, or put there beforehand.
      if (by_pieces(q.verb)) h.output[own] = h.input[own];
    }
  }
  host::brackets = false;
  run(hosts, count + 1);
  number = 0;
  for (host const& h : hosts) {
    for (auto const& out : h.output) {
      auto const [begin, end] = kept_by(q, pieces, number);
      if (q.verb == collective::broadcast && number == q.root) {
        ++number;
        continue;
      }
      for (std::size_t e = begin; e < end; ++e) ASSERT_EQ(out[e], result[e]) << "rank " << number << ", " << e;
      ++number;
    }
  }
}

std::string two_level(std::vector<rank_t> const& hosts, std::string const& more) {
  return "two_level(nodes=" + schedule::value_of(hosts, '+') + (more.empty() ? "" : ",") + more + ")";
}

std::vector<rank_t> const equal{3, 3, 3, 3, 3, 3}, unequal{1, 4, 2, 3, 1, 5, 2};

TEST(Parts, GiveWhatTheWholeGives) {
  for (auto const& hosts : {equal, unequal, {2, 2}, {1, 1, 1, 1}, {4, 1}}) {
    for (std::string const more : {"", "leaders=0", "leaders=2", "saved_steps=1", "radix=3,leaders=0", "between=direct",
                                   "between=ring", "between=direct,saved_steps=1,leaders=0", "between=binomial",
                                   "between=recursive_doubling", "between=elimination_3_2", "between=bruck_ho",
                                   "inner=2", "inner=2,leaders=0", "between=adapted_dissemination"}) {
      for (auto const verb : {collective::allreduce, collective::barrier, collective::reduce, collective::broadcast,
                              collective::reduce_scatter, collective::allgather}) {
        if (by_pieces(verb) && more.ends_with("binomial")) continue;
        for (rank_t const root : {0u, 1u, std::accumulate(hosts.begin(), hosts.end(), 0u) - 1}) {
          if (by_pieces(verb) && root > 0) continue;
          for (std::string const storage : {"staged", "zero_copy", "push", "staged_pull"})
            expect_right({two_level(hosts, more), {hosts, root + 1}, verb, root, storage}, 157);
        }
      }
    }
  }
}

/// Then hosts read the same value more than once, and several of one block.
TEST(Parts, ThatSaveStepsSendNothingTwice) {
  for (auto const& hosts : {equal, unequal}) {
    for (std::string const algorithm : {"generalized,saved_steps=", "circulant,saved_steps=", "naive,saved_steps="}) {
      for (std::string const saved : {"1", "2", "3"}) {
        for (std::string const radix : {"", ",radix=2", ",radix=3"}) {
          if (radix.empty() != (algorithm[0] == 'n') || (radix == ",radix=3" && saved == "3")) continue;
          expect_right({two_level(hosts, "leaders=2,between=" + algorithm + saved + radix), {hosts, 2}}, 300);
        }
      }
    }
  }
}

/// Algorithms that know nothing of hosts.
TEST(Parts, AreOfAnyAlgorithm) {
  for (std::string const algorithm :
       {"direct", "ring", "generalized(radix=3)", "recursive_doubling", "binomial", "latency", "elimination_3_2",
        "generalized(saved_steps=2)", "bruck_ho", "hybrid(saved_steps=1)", "flexreduce(nodes=1+4+2+3+1+5+2)"}) {
    for (auto const verb : {collective::allreduce, collective::reduce, collective::broadcast}) {
      if (algorithm == "flexreduce" && verb != collective::allreduce) continue;
      expect_right({algorithm, {unequal, 1}, verb, 7}, 411);
      expect_right({algorithm, {unequal, 9}, verb, 0, "zero_copy"}, 411);
    }
  }
}

TEST(Parts, OfProductsNestAndLieSideBySide) {
  std::vector<rank_t> const twelve(12, 2);
  for (std::string const dims : {"12", "3x4", "2x2x3", "6x2"}) {
    for (std::string const saved : {"0", "1"}) {
      auto const more = "between=product,nested=1,dims=" + dims + ",saved_steps=" + saved;
      expect_right({two_level(twelve, more), {twelve}}, 500);
      expect_right({two_level(twelve, more + ",leaders=0"), {twelve, 2}}, 500);
    }
  }
  // In each round one run of neighbours for each peer, there and back.
  auto const part = schedule::make_part(schedule::algorithm::parse(two_level(twelve, "between=product,dims=2x2x3")),
                                        spread_over({twelve}).domains, 5, collective::allreduce, 0);
  EXPECT_LE(part.own.blocks.size(), 2u * (1 + 1 + 2) + 1);
  EXPECT_EQ(part.blocks, 12u);
}

/// The bits of every rank of every host, and of the schedule for all ranks, are the same.
TEST(Parts, BracketAsTheWholeDoes) {
  for (std::string const more : {"between=product,nested=1,dims=3x2", "radix=2", "between=direct,leaders=0"}) {
    auto const algorithm = two_level(equal, more);
    std::size_t const count = 96;
    auto const outputs = [&](std::vector<host> hosts) {
      std::mt19937_64 values(7);
      for (host& h : hosts) {
        for (auto& in : h.input) std::ranges::generate(in, std::ref(values));
      }
      host::brackets = true;
      run(hosts, 3);
      host::brackets = false;
      std::set<std::vector<element>> all;
      for (host const& h : hosts) all.insert(h.output.begin(), h.output.end());
      return all;
    };
    auto const apart = outputs(hosts_of({algorithm, {equal}}, count));
    std::vector<host> one;
    auto code = compile(schedule::make(schedule::algorithm::parse(algorithm), 18), parse_policy("staged"));
    auto where = bind(code, count, {sizeof(element)});
    one.emplace_back(std::move(code), std::move(where), 0, count);
    EXPECT_EQ(apart.size(), 1u) << more;
    EXPECT_EQ(apart, outputs(std::move(one))) << more;
  }
}

/// They are to cut vectors alike.
TEST(Parts, OfEqualHostsTakeEquallyMuchStaging) {
  for (std::string const more : {"", "leaders=0", "between=product,nested=1,dims=3x2", "saved_steps=1"}) {
    std::set<std::uint32_t> layers, most;
    for (host const& h : hosts_of({two_level(equal, more), {equal}}, 64)) {
      layers.insert(h.code().layers);
      most.insert(h.code().most_layers);
    }
    EXPECT_EQ(layers.size(), 1u) << more;
    EXPECT_EQ(most, std::set<std::uint32_t>{0}) << more;
  }
  for (std::string const& algorithm :
       {two_level(unequal, ""), two_level(unequal, "leaders=0"), std::string("ring"),
        two_level(unequal, "between=product,dims=7,nested=1"), two_level(unequal, "saved_steps=2,inner=2")}) {
    std::set<std::uint32_t> most;
    for (host const& h : hosts_of({algorithm, {unequal}}, 64)) {
      most.insert(h.code().most_layers);
      EXPECT_LE(h.code().layers, h.code().most_layers) << algorithm;
    }
    EXPECT_EQ(most.size(), 1u) << algorithm;
  }
}

/// One rank may receive for all of its host.
TEST(Parts, OfHostsWithOneCarrierTakeNoMoreThanAllOfThemKnow) {
  for (rank_t const ranks : {4u, 8u, 16u}) {
    for (auto const& hosts : {std::vector<rank_t>{ranks, ranks}, {ranks, 1, ranks}}) {
      for (std::string const algorithm : {"recursive_doubling", "generalized", "latency", "bruck_ho", "direct"}) {
        for (auto const verb : {collective::scan, collective::exclusive_scan, collective::allreduce,
                                collective::reduce_scatter, collective::allgather}) {
          bool const scans = verb == collective::scan || verb == collective::exclusive_scan;
          if (scans && algorithm != "recursive_doubling" && algorithm != "direct") continue;
          for (host const& h : hosts_of({algorithm, {hosts}, verb}, 4096))
            EXPECT_LE(h.code().layers, h.code().most_layers) << algorithm << " " << name_of(verb);
        }
      }
    }
  }
}

/// Runs of items of one form, as a message has them.
using items = std::vector<std::pair<detail::form, std::size_t>>;

items items_of(program const& p, instruction const& i, layout const& where, std::size_t blocks) {
  items all;
  for (std::uint32_t k = i.operands; k < i.operands + i.sources + i.destinations; ++k) {
    std::size_t const b = p.operands[k].piece % blocks, length = where.boundary[b + 1] - where.boundary[b];
    if (all.empty() || all.back().first != p.forms[k]) all.emplace_back(p.forms[k], 0);
    all.back().second += length;
  }
  return all;
}

/// What every proxy sends each other one is what that one expects, in the order in which it does, element by element or
/// partial result by partial result.
void expect_agreement(question const& q) {
  SCOPED_TRACE(q.algorithm + " " + std::string(name_of(q.verb)));
  distribution d = spread_over(q.where);
  auto const algorithm = schedule::algorithm::parse(q.algorithm);
  policy storage = parse_policy(q.storage);
  storage.widens = true;
  storage.in_place = by_pieces(q.verb);
  std::map<std::pair<rank_t, rank_t>, std::vector<items>> sent, received;
  for (d.own = 0; d.own + 1 < d.domains.size(); ++d.own) {
    auto const code = compile(schedule::make_part(algorithm, d.domains, d.own, q.verb, q.root), storage, {}, d);
    auto const where = bound(code, q.verb, 1000, {4, 8});
    for (rank_t r = 0; r < code.of.size(); ++r) {
      for (instruction const& i : code.of[r].code) {
        auto const message = items_of(code.of[r], i, where, code.blocks.size());
        if (i.what == action::send) sent[{d.first() + r, i.peer}].push_back(message);
        if (i.what == action::receive) received[{i.peer, d.first() + r}].push_back(message);
      }
    }
  }
  EXPECT_EQ(sent, received);
}

TEST(Parts, AgreeOnMessages) {
  for (rank_t number = 2; number <= 13; ++number) {
    std::vector<rank_t> const ones(number, 1), twos(number, 2);
    std::vector<rank_t> mixed;
    for (rank_t h = 0; h < number; ++h) mixed.push_back(1 + h % 3);
    for (std::string const between :
         {"generalized", "generalized,radix=3", "circulant", "naive", "bruck", "capped", "ring", "dilated", "direct"}) {
      for (std::string const saved : {"0", "1", "2"}) {
        if (saved == "2" && (between == "direct" || number < 5)) continue;
        for (auto const& hosts : {ones, twos, mixed}) {
          auto const algorithm = two_level(hosts, "leaders=2,saved_steps=" + saved + ",between=" + between);
          for (auto const verb : {collective::allreduce, collective::reduce, collective::broadcast,
                                  collective::reduce_scatter, collective::allgather})
            expect_agreement({algorithm, {hosts, 1 + number % 2}, verb, number - 1});
        }
      }
    }
    for (std::string const algorithm : {"generalized(saved_steps=1)", "ring(ordered=1)", "latency", "bruck_ho",
                                        "binomial", "recursive_doubling", "elimination_3_2"}) {
      for (auto const verb : {collective::allreduce, collective::reduce})
        expect_agreement({algorithm, {mixed, 2}, verb, 1});
    }
    for (auto const verb : {collective::scan, collective::exclusive_scan})
      expect_agreement({"recursive_doubling", {mixed, 1}, verb});
  }
}

/// All hosts of a large team, each with its part alone.
TEST(Parts, OfManyHostsFitTogether) {
  std::vector<rank_t> const many(64, 32);
  expect_right({two_level(many, "between=product,nested=1,dims=2x2x2x2x2x2"), {many}}, 640);
  expect_right({two_level(many, "between=product,nested=1,dims=8x8,saved_steps=2"), {many}}, 64);
}

}  // namespace
}  // namespace coset::program::testing
