// SPDX-License-Identifier: Apache-2.0
// The chains, as arithmetic.
#include "planning/schedule/groups/chains.hpp"

#include <algorithm>
#include <string>

namespace coset::schedule {

namespace {

/// The lags [begin, end), `step` apart.
std::vector<element> run(rank_t begin, rank_t end, std::uint64_t step = 1) {
  std::vector<element> result;
  for (std::uint64_t t = begin; t < end; t += step) result.push_back(static_cast<element>(t));
  return result;
}

/// From `left` lags to the first `skip`: each run of as many by its distance from them.
std::vector<transfer> multiples_of(rank_t skip, rank_t left) {
  std::vector<transfer> step;
  for (std::uint64_t s = skip; s < left; s += skip) {
    auto const begin = static_cast<rank_t>(s), end = static_cast<rank_t>(std::min<std::uint64_t>(s + skip, left));
    step.push_back({begin, run(begin, end)});
  }
  return step;
}

rank_t divide_up(rank_t a, rank_t b) { return a / b + (a % b != 0); }

}  // namespace

void require_radix(rank_t radix) {
  if (radix < 2) throw schedule_error("radix = " + std::to_string(radix) + " folds nothing; take 2 or more");
}

chain direct_chain(rank_t ranks) {
  if (ranks == 1) return {};
  chain result(1);
  for (rank_t s = 1; s < ranks; ++s) result[0].push_back({s, {s}});
  return result;
}

chain naive_chain(rank_t ranks) {
  chain result;
  for (rank_t s = 1; s < ranks; ++s) result.push_back({{s, {s}}});
  return result;
}

chain ring_chain(rank_t ranks) { return capped_chain(ranks, 1); }

chain capped_chain(rank_t ranks, rank_t cap) {
  if (cap == 0) throw schedule_error("cap = 0 sends nothing; take 1 or more");
  chain result;
  for (rank_t left = ranks, sent = 0; left > 1; left -= sent) {
    sent = std::min(cap, left / 2);
    result.push_back({{sent, run(left - sent, left)}});
  }
  return result;
}

chain interval_chain(rank_t ranks, rank_t radix) {
  require_radix(radix);
  chain result;
  for (rank_t left = ranks; left > 1;) {
    rank_t const next = divide_up(left, radix);
    // Chunks that reach lag 0 are as long as what stays, the others one shorter; `full` is how many reach it.
    std::uint64_t const full = left - 1 - std::uint64_t{radix} * (next - 1);
    result.emplace_back();
    rank_t begin = next;
    for (rank_t j = 1; begin < left; ++j) {
      rank_t const land = j <= full ? 0 : 1, length = next - land;
      result.back().push_back({begin - land, run(begin, begin + length)});
      begin += length;
    }
    left = next;
  }
  return result;
}

std::vector<rank_t> skips(rank_t ranks, rank_t radix) {
  require_radix(radix);
  std::vector<rank_t> result;
  for (rank_t left = ranks; left > 1; result.push_back(left)) left = divide_up(left, radix);
  return result;
}

chain circulant_chain(rank_t ranks, rank_t radix) {
  chain result;
  rank_t left = ranks;
  for (rank_t const skip : skips(ranks, radix)) {
    result.push_back(multiples_of(skip, left));
    left = skip;
  }
  return result;
}

chain bruck_chain(rank_t ranks, rank_t radix) {
  require_radix(radix);
  chain result;
  for (rank_t left = ranks; left > 1;) {
    std::uint64_t power = 1;
    while (power * radix < left) power *= radix;
    auto const skip = static_cast<rank_t>(power);
    result.push_back(multiples_of(skip, left));
    left = skip;
  }
  return result;
}

chain dilated_chain(rank_t ranks, rank_t radix) {
  require_radix(radix);
  chain result;
  for (std::uint64_t unit = 1; unit < ranks; unit *= radix) {
    result.emplace_back();
    for (rank_t j = 1; j < radix && j * unit < ranks; ++j) {
      auto const shift = static_cast<element>(j * unit);
      result.back().push_back({shift, run(shift, ranks, unit * radix)});
    }
  }
  return result;
}

void append_lifted(chain& to, chain const& inner, rank_t order, rank_t stride, rank_t outer) {
  for (auto const& step : inner) {
    to.emplace_back();
    for (transfer const& sent : step) {
      transfer& lifted = to.back().emplace_back(transfer{sent.shift * stride, {}});
      for (rank_t higher = 0; higher < outer; ++higher)
        for (element const t : sent.lags) lifted.lags.push_back(stride * (t + order * higher));
    }
  }
}

}  // namespace coset::schedule
