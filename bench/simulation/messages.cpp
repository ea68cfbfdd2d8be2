// SPDX-License-Identifier: Apache-2.0
#include "messages.hpp"

#include <map>
#include <set>
#include <tuple>

#include "lab/foreign/messages.hpp"
#include "planning/schedule/core/events.hpp"
#include "planning/schedule/registry/named_fold.hpp"

namespace coset::simulation {
namespace {

/// What the rank 0 of a fold over a group receives, and sends to the ranks that it is as far from.
std::vector<std::vector<rank_step>> rank_steps_of(schedule::symmetric_schedule const& of) {
  std::set<std::tuple<schedule::element, schedule::element, schedule::slot_t>> read;
  std::vector<std::vector<rank_step>> all;
  for (auto const& assignments : of.steps) {
    std::map<schedule::element, std::int64_t> from;
    rank_step now;
    for (schedule::symmetric_assignment const& a : assignments) {
      now.combined += a.count - 1;
      for (auto const& [displacement, slot] : std::span(of.sources).subspan(a.first, a.count))
        if (displacement != 0 && read.emplace(displacement, a.lag, slot).second) ++from[displacement];
    }
    for (auto const& [displacement, volume] : from) {
      now.receives.push_back({displacement, volume});
      now.sends.push_back({of.ranks.negate(displacement), volume});
    }
    all.push_back({std::move(now)});
  }
  return all;
}

}  // namespace

messages::messages(schedule::algorithm const& given, rank_t ranks, std::size_t segments)
    : ranks_(ranks), segments_(segments) {
  if (ranks == 0) throw schedule_error("there are no ranks");
  if (segments == 0) throw schedule_error("a vector goes in one segment at least");
  require_sense(given);
  if (auto const once = symmetric_form(completed(given), ranks, verb::allreduce)) {
    group_ = once->ranks;
    parts_ = once->whole ? 1 : ranks;
    steps_ = rank_steps_of(*once);
  } else {
    add_all(make(given, ranks));
  }
}

messages::messages(schedule::schedule const& of) : ranks_(of.ranks) { add_all(of); }

void messages::add_all(schedule::schedule const& of) {
  schedule::units const unit(of);
  parts_ = unit.denominator;
  auto const sent = messages_of(of);
  steps_.assign(of.steps.size(), std::vector<rank_step>(of.ranks));
  for (std::size_t i = 0; i < of.steps.size(); ++i) {
    for (schedule::message const& m : sent[i]) {
      std::int64_t volume = 0;
      for (schedule::message_piece const& piece : m.pieces) volume += unit.size[piece.block];
      steps_[i][m.to].receives.push_back({m.from, volume});
      steps_[i][m.from].sends.push_back({m.to, volume});
    }
    for (schedule::assignment const& a : of.steps[i])
      steps_[i][a.rank].combined += unit.size[a.block] * (std::int64_t{a.count} - 1);
  }
}

void messages::add_step(rank_t rank, rank_step const& once, rank_step& to) const {
  auto const peer = [&](rank_t of) { return group_ ? group_->add(rank, of) : of; };
  for (auto const& [of, volume] : once.receives) to.receives.push_back({peer(of), volume});
  for (auto const& [of, volume] : once.sends) to.sends.push_back({peer(of), volume});
  to.combined += once.combined;
}

void messages::look(rank_t rank, std::size_t step, rank_step& to) const {
  to.receives.clear();
  to.sends.clear();
  to.combined = 0;
  for (std::size_t segment = 0; segment < segments_ && segment <= step; ++segment)
    if (step - segment < steps_.size()) add_step(rank, steps_[step - segment][group_ ? 0 : rank], to);
}

schedule::step_messages messages::received_in(std::size_t step) const {
  schedule::step_messages all;
  rank_step now;
  for (rank_t r = 0; r < ranks_; ++r) {
    look(r, step, now);
    for (auto const& [peer, volume] : now.receives) all.messages.push_back({r, peer, volume});
    if (!now.receives.empty() || now.combined > 0) all.combined[r] = now.combined;
  }
  return all;
}

schedule::counts messages::on(schedule::network const& links, schedule::rank_costs const& costs) const {
  if (links.ranks() < ranks_)
    throw schedule_error("the network has " + std::to_string(links.ranks()) + " ranks of " + std::to_string(ranks_));
  schedule::routes const ways(links, costs);
  return {steps(), parts_of_a_vector(), [this](std::size_t step) { return received_in(step); }, ways};
}

}  // namespace coset::simulation
