// SPDX-License-Identifier: Apache-2.0
#include "team/signature.hpp"

#include <array>

namespace coset::team_room {
namespace {

constexpr std::array verb_names{"allreduce", "reduce", "reduce_scatter", "allgather", "broadcast", "scan", "exclusive_scan", "barrier"};

constexpr std::uint64_t mixed(std::uint64_t seed, std::uint64_t value) {
  std::uint64_t const x = (seed ^ value) * 0x9E3779B97F4A7C15u;
  return x ^ x >> 29;
}

}  // namespace

std::uint32_t signature::hash() const {
  std::uint64_t h = mixed(reduction->hash, count);
  h = mixed(h, std::uint64_t{root} << 32 | std::uint64_t(verb) << 1 | std::uint64_t{in_place});
  return static_cast<std::uint32_t>(mixed(h, plan) >> 32);
}

std::string signature::text() const {
  std::string s = verb_names[std::size_t(verb)];
  if (verb == schedule::collective::barrier) return s;
  s += " of " + std::to_string(count) + " " + std::string(reduction->type) + " (" + std::string(reduction->operation) + ")";
  if (root != 0) s += ", root " + std::to_string(root);
  if (in_place) s += ", in place";
  if (plan != 0) s += ", plan " + std::to_string(plan);
  return s;
}

void signature::describe(described_signature& to) const noexcept {
  to.reduction.store(reduction, std::memory_order_relaxed);
  to.count.store(count, std::memory_order_relaxed);
  to.rest.store(std::uint64_t{plan} << 40 | std::uint64_t{root} << 8 | std::uint64_t(verb) << 1 | std::uint64_t{in_place}, std::memory_order_relaxed);
}

std::string signature::text_of(described_signature const& from) {
  detail::reduction_table const* const table = from.reduction.load(std::memory_order_relaxed);
  std::uint64_t const rest = from.rest.load(std::memory_order_relaxed);
  if (table == nullptr) return "nothing yet";
  return signature{schedule::collective(rest >> 1 & 127), table, from.count.load(std::memory_order_relaxed),
                   static_cast<rank_t>(rest >> 8), (rest & 1) != 0, static_cast<std::uint32_t>(rest >> 40)}
      .text();
}

}  // namespace coset::team_room
