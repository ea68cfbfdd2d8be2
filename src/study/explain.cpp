// SPDX-License-Identifier: Apache-2.0
#include "study/explain.hpp"

#include <algorithm>
#include <chrono>

namespace coset::choice {
namespace {

/// Whether copies are forwarded or pushed is no choice, but follows from the levels.
bool is_same(program::policy const& a, program::policy const& b) {
  return a.first == b.first && a.later == b.later && a.streams == b.streams &&
         (a.how == program::copies::pull) == (b.how == program::copies::pull);
}

}  // namespace

explanation explain(question const& q) {
  candidates const search(q);
  auto const begin = std::chrono::steady_clock::now();
  answer const chosen = choose(q);
  std::chrono::duration<double> const took = std::chrono::steady_clock::now() - begin;
  explanation result{{}, search.gain(), took.count(), {}};
  auto const priced = [&](priced_schedule const& s, program::policy const& storage) {
    return explained{{s.algorithm, storage}, s.kind, s.steps, price_of(q, storage, search.machine())};
  };
  for (priced_schedule const& schedule : search.all()) {
    std::vector<explained> here;
    for (program::policy const& storage : storages_for(q, schedule.kind)) here.push_back(priced(schedule, storage));
    if (here.empty()) continue;
    std::ranges::stable_sort(here, {}, &explained::seconds);
    if (schedule.algorithm == chosen.algorithm) {
      auto const own =
          std::ranges::find_if(here, [&](explained const& e) { return is_same(e.what.storage, chosen.storage); });
      result.chosen = own != here.end() ? *own : priced(schedule, chosen.storage);
      result.chosen.what = chosen;
    } else {
      here.resize(1);
    }
    result.candidates.insert(result.candidates.end(), here.begin(), here.end());
  }
  std::ranges::stable_sort(result.candidates, {}, &explained::seconds);
  return result;
}

}  // namespace coset::choice
