// SPDX-License-Identifier: Apache-2.0
// Two partials per rank: `star` is what lag 0 holds, `prime` what all others do.
#include "planning/schedule/algorithms/latency.hpp"

#include <algorithm>
#include <utility>

#include "planning/schedule/groups/chains.hpp"
#include "planning/schedule/groups/symmetric.hpp"

namespace coset::schedule {

namespace {

class latency_builder {
 public:
  explicit latency_builder(rank_t ranks) : made_{group::cyclic(ranks), true, {}, {}, {}} {}

  /// One step of the interval chain: its first `full` transfers reach lag 0, all reach the others, if any.
  void step(std::vector<transfer> const& sent, std::size_t full, bool last) {
    made_.steps.emplace_back();
    std::vector<symmetric_source> to_both, to_others;
    for (transfer const& t : sent) (to_both.size() < full ? to_both : to_others).push_back({t.shift, prime_});
    bool const alike = star_ == prime_;
    if (last) {
      star_ = fold(star_, to_both);
    } else if (alike && to_others.empty()) {
      star_ = prime_ = fold(prime_, to_both);
    } else if (to_both.empty()) {
      prime_ = fold(prime_, to_others);
    } else if (alike) {
      star_ = fold(star_, to_both);
      prime_ = fold(star_, to_others);
    } else {
      symmetric_source const common = full == 1 ? to_both.front() : symmetric_source{0, fold(to_both)};
      star_ = fold(star_, {common});
      std::vector<symmetric_source> rest{common};
      rest.insert(rest.end(), to_others.begin(), to_others.end());
      prime_ = fold(prime_, rest);
    }
  }

  symmetric_schedule finish() && {
    made_.result = {star_};
    return std::move(made_);
  }

 private:
  slot_t fold(slot_t own, std::vector<symmetric_source> others) {
    others.insert(others.begin(), {0, own});
    return fold(others);
  }

  slot_t fold(std::vector<symmetric_source> const& from) {
    made_.steps.back().push_back(
        {0, ++used_, static_cast<std::uint32_t>(made_.sources.size()), static_cast<std::uint32_t>(from.size())});
    made_.sources.insert(made_.sources.end(), from.begin(), from.end());
    return used_;
  }

  symmetric_schedule made_;
  slot_t star_ = 0, prime_ = 0, used_ = 0;
};

}  // namespace

symmetric_schedule latency_form(rank_t ranks, rank_t radix) {
  latency_builder build(ranks);
  chain const steps = interval_chain(ranks, radix);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    auto const reaches_zero = [](transfer const& t) { return t.shift == t.lags.front(); };
    auto const full = static_cast<std::size_t>(std::ranges::count_if(steps[i], reaches_zero));
    build.step(steps[i], full, i + 1 == steps.size());
  }
  return std::move(build).finish();
}

schedule latency_optimal(rank_t ranks, rank_t radix) { return expand(latency_form(ranks, radix)); }

}  // namespace coset::schedule
