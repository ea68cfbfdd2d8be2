// SPDX-License-Identifier: Apache-2.0
#include "team/signature.hpp"

#include <fmt/format.h>

namespace coset::team_room {
namespace {

/// `type` empty: not known here.
std::string text(signature const& s, std::string_view type, std::string_view operation) {
  std::string text(name_of(s.what));
  if (s.what == verb::barrier) return text;
  text +=
      type.empty() ? fmt::format(" of {} elements", s.count) : fmt::format(" of {} {} ({})", s.count, type, operation);
  if (s.counts != 0) text += ", counts of their own";
  if (s.root != 0) text += fmt::format(", root {}", s.root);
  if (s.in_place) text += ", in place";
  if (s.plan != 0) text += fmt::format(", plan {}", s.plan);
  return text;
}

}  // namespace

std::uint32_t signature::hash() const {
  std::uint64_t h = mixed(reduction->hash, count);
  h = mixed(h, std::uint64_t{root} << 32 | std::uint64_t(what) << 1 | std::uint64_t{in_place});
  h = mixed(h, counts);
  return static_cast<std::uint32_t>(mixed(h, plan) >> 32);
}

std::string signature::text() const { return team_room::text(*this, reduction->type, reduction->operation); }

void signature::describe(described_signature& to) const noexcept {
  to.reduction.store(reduction, std::memory_order_relaxed);
  to.count.store(count, std::memory_order_relaxed);
  to.rest.store(std::uint64_t{plan} << 40 | std::uint64_t{root} << 8 | std::uint64_t{counts != 0} << 7 |
                    std::uint64_t(what) << 1 | std::uint64_t{in_place},
                std::memory_order_relaxed);
}

std::string signature::text_of(described_signature const& from, bool one_process) {
  detail::reduction_table const* const table = from.reduction.load(std::memory_order_relaxed);
  std::uint64_t const rest = from.rest.load(std::memory_order_relaxed);
  if (table == nullptr) return "nothing yet";
  signature const s{verb(rest >> 1 & 63),
                    table,
                    from.count.load(std::memory_order_relaxed),
                    static_cast<rank_t>(rest >> 8),
                    (rest & 1) != 0,
                    static_cast<std::uint32_t>(rest >> 40),
                    rest >> 7 & 1};
  return one_process ? s.text() : team_room::text(s, {}, {});
}

}  // namespace coset::team_room
