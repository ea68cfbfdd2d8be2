// SPDX-License-Identifier: Apache-2.0
// One case: its cell, and what is drawn from the seed and its number.
#pragma once

#include <cstdint>
#include <random>

#include "coset/team.hpp"
#include "torture/account.hpp"
#include "torture/cells.hpp"

namespace coset::torture {

struct trial {
  trial(cell const& of, std::uint64_t seed, std::uint64_t number, account& tells)
      : where(of), draws(seed * 0x9E3779B97F4A7C15u + number), said(tells) {
    ranks = 2 + draw(3);
    striker = draw(ranks);
    strikes_at = 1 + draw(rounds - 1);
    salt = draws();
  }

  static constexpr std::uint32_t rounds = 4, runs = 2;

  std::uint32_t draw(std::uint32_t below) { return static_cast<std::uint32_t>(draws() % below); }

  cell const where;
  std::mt19937_64 draws;
  rank_t ranks, striker;
  std::uint32_t strikes_at;
  std::uint64_t salt;
  account& said;
};

}  // namespace coset::torture
