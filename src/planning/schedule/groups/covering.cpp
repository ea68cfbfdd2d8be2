// SPDX-License-Identifier: Apache-2.0
// The covering theorem as a procedure: what each step reaches, from the last one back, and then what has to be kept.
#include "planning/schedule/groups/covering.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "planning/schedule/groups/chains.hpp"

namespace coset::schedule {
namespace {

std::string text_of(std::vector<element> const& shifts) {
  std::string text;
  for (element const s : shifts) text += (text.empty() ? "" : ".") + std::to_string(s);
  return text;
}

[[noreturn]] void refuse(shift_list const& steps, std::size_t step, std::string const& why) {
  throw schedule_error("step " + std::to_string(step) + ", shift " + text_of(steps[step]) + ": " + why);
}

class covering {
 public:
  covering(group const& ranks, shift_list const& steps)
      : ranks_(ranks), steps_(steps), level_(ranks.order(), unreached), parent_(ranks.order(), 0) {
    level_[0] = static_cast<std::uint32_t>(steps.size());
    reached_.push_back(0);
    for (std::size_t i = steps.size(); i-- > 0;) reach(i);
    if (reached_.size() == ranks.order()) return;
    auto const missed = std::ranges::find(level_, unreached) - level_.begin();
    throw schedule_error("the shifts reach " + std::to_string(reached_.size()) + " of " +
                         std::to_string(ranks.order()) + " elements: no sum of some of them, the last one first, is " +
                         std::to_string(missed));
  }

  /// With empty steps where nothing is left to send.
  chain result() && {
    left_ = reached_;  // in the order in which they were reached: parents before children
    chain made;
    for (std::uint32_t i = 0; i < steps_.size(); ++i) made.push_back(send(i));
    return made;
  }

 private:
  static constexpr std::uint32_t unreached = UINT32_MAX;

  void reach(std::size_t step) {
    std::size_t const before = reached_.size();
    for (element const s : steps_[step]) {
      if (s >= ranks_.order()) refuse(steps_, step, "there are only " + std::to_string(ranks_.order()) + " elements");
      if (s == 0) refuse(steps_, step, "shift 0 leaves every rank with what it has");
      for (std::size_t k = 0; k < before; ++k) {
        element const t = ranks_.add(reached_[k], s);
        if (level_[t] != unreached) continue;
        level_[t] = static_cast<std::uint32_t>(step);
        parent_[t] = reached_[k];
        reached_.push_back(t);
      }
    }
    if (reached_.size() == before)
      refuse(steps_, step, "it reaches nothing that later steps do not reach; leave it out");
  }

  enum class fate : char { absent, open, ahead, kept, sent };

  /// Keeps what is left closed under parents: what is kept can be sent later.
  void keep(element t) {
    for (; fate_[t] != fate::kept; t = parent_[t]) fate_[t] = fate::kept;
  }

  /// Sends as many as it can: in runs t, t + s, … from their ends, children before parents, so that what is kept for
  /// others is known.
  void decide(std::uint32_t step) {
    fate_.assign(ranks_.order(), fate::absent);
    for (element const t : left_) fate_[t] = level_[t] == step ? fate::sent : fate::open;
    keep(0);
    for (element const t : left_)
      if (level_[t] == step) keep(parent_[t]);
    std::vector<element> run;
    for (std::size_t k = left_.size(); k-- > 0;) {
      run.clear();
      for (element t = left_[k]; fate_[t] == fate::open; t = ranks_.add(t, steps_[step].front())) {
        fate_[t] = fate::ahead;
        run.push_back(t);
      }
      for (element const t : run) fate_[t] = fate::open;
      for (auto t = run.rbegin(); t != run.rend(); ++t)
        if (fate_[*t] == fate::open) settle(*t, step);
    }
  }

  void settle(element t, std::uint32_t step) {
    auto const landing = [&](fate wanted) {
      return std::ranges::find_if(steps_[step], [&](element s) { return fate_[ranks_.subtract(t, s)] == wanted; });
    };
    auto chosen = landing(fate::kept);
    if (chosen == steps_[step].end()) chosen = landing(fate::open);
    if (chosen == steps_[step].end()) return keep(t);
    fate_[t] = fate::sent;
    keep(ranks_.subtract(t, *chosen));
  }

  std::vector<transfer> send(std::uint32_t step) {
    decide(step);
    std::vector<transfer> sent;
    for (element const s : steps_[step]) sent.push_back({s, {}});
    for (element const t : left_) {
      if (fate_[t] == fate::kept) continue;
      transfer* least = nullptr;
      for (transfer& one : sent) {
        bool const lands = fate_[ranks_.subtract(t, one.shift)] == fate::kept;
        if (lands && (least == nullptr || one.lags.size() < least->lags.size())) least = &one;
      }
      least->lags.push_back(t);
    }
    std::erase_if(left_, [&](element t) { return fate_[t] == fate::sent; });
    std::erase_if(sent, [](transfer const& one) { return one.lags.empty(); });
    for (transfer& one : sent) std::ranges::sort(one.lags);
    return sent;
  }

  group const& ranks_;
  shift_list const& steps_;
  std::vector<std::uint32_t> level_;  // the last i for which an element is in E_i
  std::vector<element> parent_;       // where it lands when it is sent in that step
  std::vector<element> reached_, left_;
  std::vector<fate> fate_;
};

}  // namespace

shift_list in_radix(group const& ranks, std::vector<element> const& shifts, rank_t radix) {
  require_radix(radix);
  shift_list steps;
  for (element const s : shifts) {
    steps.push_back({s});
    if (s >= ranks.order()) continue;  // refused later, with its place
    for (element sum = ranks.add(s, s); steps.back().size() + 1 < radix && sum != 0; sum = ranks.add(sum, s))
      steps.back().push_back(sum);
  }
  return steps;
}

chain covering_chain(group const& ranks, shift_list const& steps) {
  chain made = covering(ranks, steps).result();
  std::erase_if(made, [](auto const& step) { return step.empty(); });
  return made;
}

chain chain_of_all(group const& ranks, shift_list const& steps) {
  chain made = covering(ranks, steps).result();
  for (std::size_t i = 0; i < made.size(); ++i)
    if (made[i].empty()) refuse(steps, i, "earlier steps have sent all that it could send; leave it out");
  return made;
}

chain with_cap(chain steps, rank_t cap) {
  if (cap == 0) return steps;
  chain capped;
  for (auto const& step : steps) {
    std::size_t most = 0;
    for (transfer const& sent : step) most = std::max(most, sent.lags.size());
    for (std::size_t first = 0; first < most; first += cap) {
      capped.emplace_back();
      for (transfer const& sent : step) {
        if (first >= sent.lags.size()) continue;
        auto const from = sent.lags.begin() + static_cast<std::ptrdiff_t>(first);
        auto const count = std::min<std::size_t>(cap, sent.lags.size() - first);
        capped.back().push_back({sent.shift, {from, from + static_cast<std::ptrdiff_t>(count)}});
      }
    }
  }
  return capped;
}

shift_list swing_shifts(rank_t ranks, bool far_first) {
  shift_list steps;
  std::int64_t distance = 1;
  for (std::uint64_t reach = 1; reach < ranks; reach *= 2) {
    auto const modulus = std::int64_t{ranks};
    steps.push_back({static_cast<element>(((distance % modulus) + modulus) % modulus)});
    distance = 1 - 2 * distance;
  }
  if (far_first) std::ranges::reverse(steps);
  return steps;
}

}  // namespace coset::schedule
