// SPDX-License-Identifier: Apache-2.0
#include "planning/plan/signature.hpp"

#include <algorithm>
#include <complex>
#include <cstddef>
#include <optional>
#include <string_view>
#include <typeinfo>
#include <vector>

#include "base/text/format.hpp"
#include "coset/float16.hpp"
#include "coset/operations.hpp"

namespace coset::planning {
namespace {

using detail::is_rooted;

/// Whether it makes a difference to a plan of this verb that input and output are one array.
bool tells_in_place(verb what) { return detail::row_of(what).in_place == detail::same_array::told; }

/// As the program has written it, whichever verb carries it out: "combine(add) of 1000 float (plus)". Not what a sparse
/// reducer's processes tell each other of.
[[gnu::cold]] std::string combine_in_words(signature const& s, asked_by how, std::string_view of,
                                           std::string_view counts) {
  std::string text = how == asked_by::combine_add ? "combine(add)" : "combine(assign)";
  bool const is_to_one = detail::is_to_root(s.what), is_in_parts = detail::gets_pieces(s.what);
  if (detail::shares_result(s.what) || is_to_one || is_in_parts) text += of;
  if (is_to_one) text += text::format(", to the process of rank {}", s.root);
  if (is_in_parts) text += text::format(", in parts of its ranks {}", counts);
  return text;
}

/// `type` empty: not known here.
[[gnu::cold]] std::string text(signature const& s, asked_by by, std::string_view type, std::string_view operation,
                               std::string_view counts) {
  std::string const of = type.empty() ? text::format(" of {} elements", s.count)
                                      : text::format(" of {} {} ({})", s.count, type, operation);
  if (by != asked_by::program) return combine_in_words(s, by, of, counts);
  std::string text(name_of(s.what));
  if (detail::is_barrier(s.what)) return text;
  text += of;
  if (s.counts != 0) text += text::format(", counts {}", counts);
  if (is_rooted(s.what)) text += text::format(", root {}", s.root);
  if (s.in_place && tells_in_place(s.what)) text += ", in place";
  if (s.plan != 0) text += text::format(", plan {}", s.plan);
  return text;
}

struct kind_names {
  std::string_view type, operation;
};

template <class...>
struct list {};

using types = list<bool, char, signed char, unsigned char, short, unsigned short, int, unsigned, long, unsigned long,
                   long long, unsigned long long, float16, bfloat16, float, double, long double, std::complex<float>,
                   std::complex<double>, std::byte>;
using operations = list<plus, multiplies, minimum, maximum, bit_and, bit_or, bit_xor, logical_and, logical_or,
                        logical_xor, reproducible_plus>;

struct known {
  std::uint32_t kind;
  kind_names names;
};

/// As described_signature has it, of the hashes that detail::table_of() and detail::copy_of() make.
std::uint32_t kind_of(std::uint64_t hash) { return static_cast<std::uint32_t>(hash >> 32); }

struct linked_name {
  char const* linkage;
  std::string_view name;
};

template <class... Any>
std::vector<linked_name> linked_names(list<Any...>) {
  return {{typeid(Any).name(), detail::name_of<Any>()}...};
}

[[gnu::cold]] std::vector<known> all_known() {
  std::vector<known> all;
  auto const every_operation = linked_names(operations{});
  for (auto const& type : linked_names(types{})) {
    std::uint64_t const hash = detail::hash_of(type.linkage);
    all.push_back({kind_of(hash), {type.name, "copy"}});
    for (auto const& operation : every_operation)
      all.push_back({kind_of(detail::hash_of(operation.linkage, hash)), {type.name, operation.name}});
  }
  return all;
}

/// Of the language's and the library's own types and operations; a caller's own ones are not known.
[[gnu::cold]] std::optional<kind_names> names_of(std::uint32_t kind) {
  static auto const& all = *new std::vector<known>(all_known());  // ranks may disagree until the process ends
  auto const found = std::ranges::find(all, kind, &known::kind);
  if (found == all.end()) return {};
  return found->names;
}

/// The rest of a described signature: plan, who asks, root, then these, the verb, and whether it is in place.
constexpr std::uint64_t in_place_bit = 1, verb_mask = 31, started_bit = 1 << 6, counts_bit = 1 << 7,
                        root_mask = (1 << 30) - 1, asked_by_mask = 3;
constexpr unsigned verb_shift = 1, root_shift = 8, asked_by_shift = 38, plan_shift = 40;

[[gnu::cold]] std::string counts_of(described_signature const& from) {
  std::size_t const pieces = from.pieces.load(std::memory_order_relaxed);
  if (pieces == 0) return "that its message does not tell";
  std::string text;
  for (std::size_t p = 0; p < std::min(pieces, from.counts.size()); ++p)
    text += text::format("{}{}", p == 0 ? "" : ", ", from.counts[p].load(std::memory_order_relaxed));
  return text::format("[{}{}]", text, pieces > from.counts.size() ? ", …" : "");
}

}  // namespace

std::uint32_t signature::hash() const {
  std::uint64_t h = mixed(reduction->hash, count);
  h = mixed(h, std::uint64_t{root} << 32 | std::uint64_t(what) << 1 | std::uint64_t{in_place});
  h = mixed(h, counts);
  return static_cast<std::uint32_t>(mixed(h, plan) >> 32);
}

std::string signature::text(asked_by by) const {
  return planning::text(*this, by, reduction->type, reduction->operation, "of their own");
}

void signature::describe(described_signature& to, std::span<std::size_t const> pieces, bool started,
                         asked_by by) const noexcept {
  to.reduction.store(reduction, std::memory_order_relaxed);
  to.count.store(count, std::memory_order_relaxed);
  to.kind.store(kind_of(reduction->hash), std::memory_order_relaxed);
  to.rest.store(std::uint64_t{plan} << plan_shift | std::uint64_t(by) << asked_by_shift |
                    std::uint64_t{root} << root_shift | (counts != 0 ? counts_bit : 0) | (started ? started_bit : 0) |
                    std::uint64_t(what) << verb_shift | (in_place ? in_place_bit : 0),
                std::memory_order_relaxed);
  to.pieces.store(static_cast<std::uint32_t>(pieces.size()), std::memory_order_relaxed);
  for (std::size_t p = 0; p < std::min(pieces.size(), to.counts.size()); ++p)
    to.counts[p].store(pieces[p], std::memory_order_relaxed);
}

bool signature::was_started(described_signature const& from) {
  return (from.rest.load(std::memory_order_relaxed) & started_bit) != 0;
}

[[gnu::cold]] std::string signature::act_of(described_signature const& from, bool one_process) {
  return (was_started(from) ? "starts " : "calls ") + words_of(from, one_process);
}

[[gnu::cold]] std::string signature::words_of(described_signature const& from, bool one_process) {
  detail::reduction_table const* const table = from.reduction.load(std::memory_order_relaxed);
  std::uint64_t const rest = from.rest.load(std::memory_order_relaxed);
  if (table == nullptr) return "nothing yet";
  signature const s{verb(rest >> verb_shift & verb_mask),
                    table,
                    from.count.load(std::memory_order_relaxed),
                    static_cast<rank_t>(rest >> root_shift & root_mask),
                    (rest & in_place_bit) != 0,
                    static_cast<std::uint32_t>(rest >> plan_shift),
                    rest & counts_bit};
  kind_names names{};
  if (one_process) {
    names = {table->type, table->operation};
  } else if (auto const known = names_of(from.kind.load(std::memory_order_relaxed))) {
    names = *known;
  }
  return planning::text(s, asked_by(rest >> asked_by_shift & asked_by_mask), names.type, names.operation,
                        counts_of(from));
}

[[gnu::cold]] std::string signature::peer_act_of(described_signature const& peer, described_signature const& mine,
                                                 bool one_process) {
  std::string text = act_of(peer, one_process);
  std::uint32_t const kind = peer.kind.load(std::memory_order_relaxed);
  bool const other_kind = kind != mine.kind.load(std::memory_order_relaxed) && !one_process && !names_of(kind);
  bool const same_else = peer.count.load(std::memory_order_relaxed) == mine.count.load(std::memory_order_relaxed) &&
                         peer.rest.load(std::memory_order_relaxed) == mine.rest.load(std::memory_order_relaxed);
  if (other_kind && same_else) text += ", but of another type or by another operation";
  return text;
}

}  // namespace coset::planning
