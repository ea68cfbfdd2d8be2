// SPDX-License-Identifier: Apache-2.0
#include "torture/deeds.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>

#include "coset/c_member.hpp"
#include "support/ways.hpp"

namespace coset::torture {
namespace {

using team_test::journey;
using team_test::manner;
using team_test::way;

constexpr std::array<std::size_t, 6> lengths{1, 7, 100, 1000, 5000, 60000};

/// The same on every rank.
way way_of(trial const& t, std::uint32_t round, rank_t ranks, bool as_task) {
  std::uint64_t const chosen = t.salt >> (8 * round);
  way w;
  w.what = deeds()[t.where.deed].what;
  w.how = as_task || chosen % 2 == 0 ? manner::started : manner::blocking;
  if (w.what == verb::allreduce_view) w.how = manner::blocking;
  w.count = w.what == verb::barrier ? 1 : lengths[chosen / 2 % lengths.size()];
  w.root = team_test::is_rooted(w.what) ? static_cast<rank_t>(chosen / 16 % ranks) : 0;
  w.in_place = team_test::may_be_in_place(w.what) && chosen / 64 % 2 == 0;
  return w;
}

class verb_deed : public deed {
 public:
  verb_deed(way const& w, std::uint64_t seed, rank_t rank, rank_t ranks, std::vector<int>& shared)
      : journey_(w, seed, rank, ranks), shared_(std::span(shared).first(w.count)) {}
  void go(member& me) override {
    journey_.set_off(me, nullptr, shared_);
    journey_.under_way.wait();
  }
  request start(member& me) override {
    journey_.set_off(me, nullptr, shared_);
    return std::move(journey_.under_way);
  }
  std::string wrong() const override { return journey_.fault(); }

 private:
  journey journey_;
  std::span<int> const shared_;
};

std::string unless_equal(char const* what, long got, long right) {
  if (got == right) return {};
  return std::string(what) + " is " + std::to_string(got) + " instead of " + std::to_string(right);
}

/// Each rank adds its number, counted from 1, to every element, or to the last.
class reducer_deed : public deed {
 public:
  reducer_deed(deed_kind::beside which, common_things& all, rank_t rank, rank_t ranks)
      : which_(which), all_(all), mine_(static_cast<int>(rank) + 1), ranks_(ranks), rank_(rank) {}
  void go(member& me) override {
    give();
    if (which_ == deed_kind::dense) {
      all_.dense.combine_into(all_.bins, me, combining::assign);
    } else if (which_ == deed_kind::sparse) {
      all_.sparse.combine_into(all_.bins, me, combining::assign);
    } else {
      all_.joint.combine(me, combining::assign);
    }
  }
  request start(member&) override {
    give();
    return {};
  }
  void combine() override {
    if (which_ == deed_kind::dense) {
      all_.dense.combine_into(all_.bins, combining::assign);
    } else if (which_ == deed_kind::sparse) {
      all_.sparse.combine_into(all_.bins, combining::assign);
    } else {
      all_.joint.combine(combining::assign);
    }
  }
  std::string wrong() const override {
    int const sum = static_cast<int>(ranks_ * (ranks_ + 1) / 2);
    bool const is_joint = which_ == deed_kind::joint;
    if (auto said = unless_equal("the last bin", is_joint ? all_.other_bins.back() : all_.bins.back(), sum);
        !said.empty())
      return said;
    return is_joint ? unless_equal("the maximum", all_.most, static_cast<int>(ranks_)) : std::string();
  }

 private:
  void give() {
    if (which_ == deed_kind::dense) {
      for (int& v : all_.dense.local(rank_)) v += mine_;
    } else if (which_ == deed_kind::sparse) {
      all_.sparse.local(rank_)[all_.count - 1] += mine_;
    } else {
      auto [bins, most] = all_.joint.local(rank_);
      bins[all_.count - 1] += mine_;
      most = std::max(most, mine_);
    }
  }

  deed_kind::beside const which_;
  common_things& all_;
  int const mine_;
  rank_t const ranks_, rank_;
};

class together_deed : public deed {
 public:
  together_deed(std::size_t count, rank_t rank, rank_t ranks)
      : array_(count, static_cast<int>(rank) + 1), most_(static_cast<int>(rank)), ranks_(static_cast<int>(ranks)) {}
  void go(member& me) override { allreduce(me, coset::together(array_, into(most_, maximum{}))); }
  request start(member& me) override { return start_allreduce(me, coset::together(array_, into(most_, maximum{}))); }
  std::string wrong() const override {
    if (auto said = unless_equal("the sum", array_.back(), ranks_ * (ranks_ + 1) / 2); !said.empty()) return said;
    return unless_equal("the maximum", most_, ranks_ - 1);
  }

 private:
  std::vector<int> array_;
  int most_;
  int const ranks_;
};

/// Rank r sends s · length + r elements to rank s.
class exchange_deed : public deed {
 public:
  exchange_deed(std::size_t length, rank_t rank, rank_t ranks) : rank_(rank) {
    for (rank_t other = 0; other < ranks; ++other) {
      sent_.push_back(other * length + rank);
      received_.push_back(rank * length + other);
    }
    std::size_t const out = std::accumulate(sent_.begin(), sent_.end(), std::size_t{0});
    from_.assign(out, static_cast<int>(rank));
    to_.assign(std::accumulate(received_.begin(), received_.end(), std::size_t{0}), -1);
  }
  void go(member& me) override { all_to_all(me, from_, to_, sent_, received_); }
  std::string wrong() const override {
    std::size_t at = 0;
    for (std::size_t other = 0; other < received_.size(); ++other) {
      for (std::size_t i = 0; i < received_[other]; ++i, ++at)
        if (auto said = unless_equal("an element", to_[at], static_cast<long>(other)); !said.empty()) return said;
    }
    return {};
  }

 private:
  rank_t const rank_;
  std::vector<std::size_t> sent_, received_;
  std::vector<int> from_, to_;
};

class split_deed : public deed {
 public:
  split_deed(rank_t rank, rank_t ranks) : odd_(rank % 2), right_(odd_ != 0 ? ranks / 2 : (ranks + 1) / 2) {}
  void go(member& me) override {
    member part = me.split(static_cast<int>(odd_));
    sum_ = allreduce(part, 1);
  }
  std::string wrong() const override { return unless_equal("the sum of a part", sum_, static_cast<long>(right_)); }

 private:
  rank_t const odd_, right_;
  int sum_ = 0;
};

/// Words of C are the thread's message.
class c_deed : public deed {
 public:
  c_deed(std::size_t count, rank_t rank, rank_t ranks)
      : in_(count, static_cast<int>(rank) + 1), out_(count), rank_(rank), ranks_(ranks) {}
  void go(member& me) override {
    c_member const c(me);
    require(coset_allreduce(c, in_.data(), out_.data(), in_.size(), COSET_INT32, COSET_PLUS));
    coset_request under_way;
    require(coset_start_scan(c, in_.data(), in_.data(), in_.size(), COSET_INT32, COSET_PLUS, &under_way));
    require(coset_request_wait(&under_way));
    require(coset_barrier(c));
  }
  std::string wrong() const override {
    if (auto said = unless_equal("the sum", out_.back(), ranks_ * (ranks_ + 1) / 2); !said.empty()) return said;
    return unless_equal("the scan", in_.back(), (rank_ + 1) * (rank_ + 2) / 2);
  }

 private:
  static void require(coset_status s) {
    if (s != COSET_SUCCESS) throw error(std::string(coset_status_name(s)) + ": " + coset_error_message());
  }

  std::vector<int> in_, out_;
  rank_t const rank_, ranks_;
};

class plan_deed : public deed {
 public:
  plan_deed(common_things const& all, rank_t rank, rank_t ranks)
      : all_(all), in_(all.count, static_cast<int>(rank) + 1), out_(in_.size()), ranks_(ranks) {}
  void go(member& me) override { all_.planned->execute(me, in_, out_); }
  request start(member& me) override { return all_.planned->start(me, in_, out_); }
  std::string wrong() const override { return unless_equal("the sum", out_.back(), ranks_ * (ranks_ + 1) / 2); }

 private:
  common_things const& all_;
  std::vector<int> in_, out_;
  rank_t const ranks_;
};

class sum_deed : public deed {
 public:
  sum_deed(verb what, rank_t rank, rank_t ranks, std::vector<double>& common, std::vector<double>& first)
      : what_(what),
        in_(length * (what == verb::reduce_scatter ? ranks : 1)),
        out_(length),
        common_(common),
        first_(first) {
    // Sums that are rounded, and sums of subnormals that flush-to-zero would lose.
    for (std::size_t i = 0; i < in_.size(); ++i)
      in_[i] =
          i % 2 == 0 ? (rank + 1) / 3.0 : static_cast<double>(rank + i) * std::numeric_limits<double>::denorm_min();
  }
  void go(member& me) override {
    if (what_ == verb::allreduce_view) {
      std::ranges::copy(allreduce_view(me, in_), out_.begin());
      return;
    }
    start(me).wait();
  }
  request start(member& me) override {
    switch (what_) {
      case verb::reduce:
        return start_reduce(me, in_, out_, 0);
      case verb::reduce_scatter:
        return start_reduce_scatter(me, in_, out_);
      case verb::scan:
        return start_scan(me, in_, out_);
      case verb::exclusive_scan:
        return start_exclusive_scan(me, in_, out_);
      case verb::reduce_shared:
        return start_reduce_shared(me, in_, common_);
      default:
        return start_allreduce(me, in_, out_);
    }
  }
  std::string wrong() const override {
    std::vector<double> const& got = what_ == verb::reduce_shared ? common_ : out_;
    if (first_.empty()) first_ = got;
    if (std::memcmp(got.data(), first_.data(), got.size() * sizeof(double)) == 0) return {};
    return std::string(name_of(what_)) + " of doubles: other bits than before the rank's mode was changed";
  }

 private:
  static constexpr std::size_t length = sums_length;

  verb const what_;
  std::vector<double> in_, out_;
  std::vector<double>& common_;
  std::vector<double>& first_;
};

}  // namespace

common_things::common_things(trial const& t)
    : count(100 + t.salt % 1000),
      shared(trial::rounds * trial::runs, std::vector<int>(lengths.back())),
      bins(count),
      other_bins(count),
      dense(count),
      sparse(count),
      joint(other_bins, most) {}

std::unique_ptr<deed> make_deed(trial const& t, common_things& all, std::uint32_t round, rank_t rank, rank_t ranks,
                                bool as_task) {
  deed_kind const& kind = deeds()[t.where.deed];
  way const w = way_of(t, round % trial::rounds, ranks, as_task);
  switch (kind.other) {
    case deed_kind::is_verb:
      return std::make_unique<verb_deed>(w, t.salt + round, rank, ranks, all.shared[round]);
    case deed_kind::together:
      return std::make_unique<together_deed>(w.count, rank, ranks);
    case deed_kind::exchange:
      return std::make_unique<exchange_deed>(w.count, rank, ranks);
    case deed_kind::split:
      return std::make_unique<split_deed>(rank, ranks);
    case deed_kind::planned:
      return std::make_unique<plan_deed>(all, rank, ranks);
    case deed_kind::of_c:
      return std::make_unique<c_deed>(w.count, rank, ranks);
    default:
      return std::make_unique<reducer_deed>(kind.other, all, rank, ranks);
  }
}

std::unique_ptr<deed> make_sum(trial const& t, rank_t rank, rank_t ranks, std::vector<double>& common,
                               std::vector<double>& first) {
  deed_kind const& kind = deeds()[t.where.deed];
  if (kind.other != deed_kind::is_verb || detail::only_moves(kind.what)) return nullptr;
  return std::make_unique<sum_deed>(kind.what, rank, ranks, common, first);
}

}  // namespace coset::torture
