// SPDX-License-Identifier: Apache-2.0
// Names to groups and chains.
#include "planning/schedule/registry/foldings.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <string_view>
#include <utility>

#include "planning/schedule/groups/chains.hpp"

namespace coset::schedule {
namespace {

std::vector<std::string_view> split(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  for (std::size_t begin = 0, end = 0; end != std::string_view::npos; begin = end + 1)
    parts.push_back(text.substr(begin, (end = text.find(at, begin)) - begin));
  return parts;
}

std::optional<rank_t> number_in(std::string_view text) {
  rank_t number = 0;
  auto const [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failure != std::errc() || end != text.data() + text.size()) return {};
  return number;
}

/// A factor of a group by its text: what it is made of, before it is made.
struct factor {
  bool is_dihedral;
  std::vector<rank_t> numbers;  ///< the order, or acting.normal.unit

  std::uint64_t order() const { return std::uint64_t{numbers[0]} * (numbers.size() > 1 ? numbers[1] : 1); }
  group make() const {
    if (is_dihedral) return group::dihedral(numbers[0]);
    return numbers.size() > 1 ? group::semidirect(numbers[0], numbers[1], numbers[2]) : group::cyclic(numbers[0]);
  }
};

std::optional<factor> factor_in(std::string_view text) {
  factor found{text.starts_with('d'), {}};
  for (std::string_view const part : split(text.substr(found.is_dihedral ? 1 : 0), '.')) {
    auto const number = number_in(part);
    if (!number) return {};
    found.numbers.push_back(*number);
  }
  bool const is_known = found.numbers.size() == 1 || (found.numbers.size() == 3 && !found.is_dihedral);
  return is_known ? std::optional(found) : std::nullopt;
}

std::vector<factor> factors_in(std::string const& group) {
  std::vector<factor> factors;
  for (std::string_view const part : split(group, 'x')) {
    auto const one = factor_in(part);
    if (!one)
      throw schedule_error("group=" + group + ": take cyclic, dihedral, binary, or factors like 4x3, d10, 3.7.2");
    factors.push_back(*one);
  }
  return factors;
}

bool is_name_of_group(std::string_view text) { return text == "cyclic" || text == "dihedral" || text == "binary"; }

std::vector<rank_t> factors_of(rank_t ranks, algorithm const& a, std::string const& key) {
  std::vector<rank_t> factors = a.numbers(key);
  std::uint64_t product = 1;
  for (rank_t const n : factors) product = std::min<std::uint64_t>(product * n, UINT32_MAX);
  if (product != ranks)
    throw schedule_error(a.name + ": the product of " + key + "=" + a.value(key) + " is not the number of ranks, " +
                         std::to_string(ranks));
  return factors;
}

folding cyclic(rank_t ranks, chain steps) { return {group::cyclic(ranks), std::move(steps)}; }

template <typename PerDimension>
folding along_dimensions(rank_t ranks, algorithm const& a, PerDimension const& per_dimension) {
  auto const factors = factors_of(ranks, a, "dims");
  return {group(factors), lifted(factors, ranks, per_dimension)};
}

/// Steps by their shifts: "11+6+3.5+1".
shift_list shifts_in(algorithm const& a) {
  auto const refuse = [&](std::string_view what) {
    throw schedule_error(a.text() +
                         ": shifts takes whole numbers, a step after the other, like 11+6+3+2+1, or 3.5 where a "
                         "step has several, or the name of a chain; not '" +
                         std::string(what) + "'");
  };
  shift_list steps;
  for (std::string_view const step : split(a.value("shifts"), '+')) {
    steps.emplace_back();
    for (std::string_view const shift : split(step, '.')) {
      auto const number = number_in(shift);
      if (!number) refuse(shift);
      steps.back().push_back(*number);
    }
  }
  return steps;
}

shift_list shifts_of(algorithm const& a, group const& ranks) {
  auto steps = shifts_in(a);
  rank_t const radix = a.number("radix");
  if (radix == 2) return steps;
  std::vector<element> single;
  for (auto const& step : steps) {
    if (step.size() > 1) throw schedule_error(a.text() + ": a step of several shifts has its radix; leave radix out");
    single.push_back(step.front());
  }
  return in_radix(ranks, single, radix);
}

using maker = chain (*)(algorithm const&, rank_t);

/// The chains that need nothing but the number of ranks, and perhaps a radix.
constexpr std::array chains{
    std::pair{"direct", maker([](algorithm const&, rank_t p) { return direct_chain(p); })},
    std::pair{"naive", maker([](algorithm const&, rank_t p) { return naive_chain(p); })},
    std::pair{"ring", maker([](algorithm const&, rank_t p) { return ring_chain(p); })},
    std::pair{"generalized", maker([](algorithm const& a, rank_t p) { return interval_chain(p, a.number("radix")); })},
    std::pair{"circulant", maker([](algorithm const& a, rank_t p) { return circulant_chain(p, a.number("radix")); })},
    std::pair{"bruck", maker([](algorithm const& a, rank_t p) { return bruck_chain(p, a.number("radix")); })},
    std::pair{"dilated", maker([](algorithm const& a, rank_t p) { return dilated_chain(p, a.number("radix")); })},
};

auto chain_named(std::string_view name) {
  return std::ranges::find(chains, name, [](auto const& c) { return c.first; });
}

chain swing_chain(group const& ranks, bool far_first) {
  return covering_chain(ranks, swing_shifts(ranks.order(), far_first));
}

/// Of a name, those over the group for which it is made: the direct and naive ones are valid over any.
chain chain_of(algorithm const& a, group const& ranks) {
  std::string const& shifts = a.value("shifts");
  rank_t const p = ranks.order();
  if (shifts == "swing") {
    if (a.value("group") == "dihedral") return swing_chain(ranks, false);
    throw schedule_error(a.text() + ": the exchanges of swing are elements of group=dihedral");
  }
  auto const named = chain_named(shifts);
  if (named == chains.end()) return chain_of_all(ranks, shifts_of(a, ranks));
  bool const is_for_any = shifts == "direct" || shifts == "naive";
  if (is_for_any || ranks.factors().size() <= 1) return named->second(a, p);
  throw schedule_error(a.text() + ": the shifts of " + shifts + " are for group=cyclic; over others write numbers");
}

}  // namespace

void require_readable_chain(algorithm const& a) {
  if (a.name != "fold") return;
  if (!is_name_of_group(a.value("group"))) (void)factors_in(a.value("group"));
  bool const is_name = a.value("shifts") == "swing" || chain_named(a.value("shifts")) != chains.end();
  if (!is_name) (void)shifts_in(a);
}

group group_of(std::string const& text, rank_t ranks) {
  if (text == "cyclic") return group::cyclic(ranks);
  if (text == "dihedral") return group::dihedral(ranks);
  if (text == "binary") {
    if (std::has_single_bit(ranks)) return group::binary(static_cast<unsigned>(std::bit_width(ranks)) - 1);
    throw schedule_error("group=binary: " + std::to_string(ranks) + " ranks are no power of two");
  }
  auto const factors = factors_in(text);
  std::uint64_t product = 1;
  for (factor const& one : factors)
    product = std::min<std::uint64_t>(product * std::min<std::uint64_t>(one.order(), UINT32_MAX), UINT32_MAX);
  if (product != ranks)
    throw schedule_error("group=" + text + ": its order is not the number of ranks, " + std::to_string(ranks));
  group made(std::vector<rank_t>{});
  for (factor const& one : factors) made = group::product(made, one.make());
  return made;
}

std::optional<folding> named_chain(algorithm const& a, rank_t ranks) {
  return cyclic(ranks, chain_named(a.name)->second(a, ranks));
}

std::optional<folding> chain_under_cap(algorithm const& a, rank_t ranks) {
  return cyclic(ranks, capped_chain(ranks, a.number("cap")));
}

std::optional<folding> dilated_under_cap(algorithm const& a, rank_t ranks) {
  return cyclic(ranks, dilated_chain(ranks, a.number("radix")));
}

std::optional<folding> interval_tower(algorithm const& a, rank_t ranks) {
  rank_t const k = a.number("radix");
  return cyclic(ranks, lifted(factors_of(ranks, a, "factors"), ranks, [k](rank_t n) { return interval_chain(n, k); }));
}

std::optional<folding> direct_by_dimension(algorithm const& a, rank_t ranks) {
  rank_t const k = a.number("radix");
  return along_dimensions(ranks, a, [k](rank_t n) { return k == 0 ? direct_chain(n) : interval_chain(n, k); });
}

std::optional<folding> ring_by_dimension(algorithm const& a, rank_t ranks) {
  return along_dimensions(ranks, a, ring_chain);
}

std::optional<folding> even_exchanges(algorithm const& a, rank_t ranks) {
  if (ranks % 2 != 0) return {};
  group g = group::dihedral(ranks);
  chain steps = swing_chain(g, a.parameters.contains("far") && a.number("far") != 0);
  return folding{std::move(g), std::move(steps)};
}

std::optional<folding> own_chain(algorithm const& a, rank_t ranks) {
  require_radix(a.number("radix"));
  group g = group_of(a.value("group"), ranks);
  chain steps = chain_of(a, g);
  return folding{std::move(g), std::move(steps)};
}

std::optional<folding> folding_of(algorithm const& a, rank_t ranks) {
  folding_maker const along = find_algorithm(a.name).along;
  auto found = along != nullptr ? along(a, ranks) : std::nullopt;
  bool const is_limited = a.parameters.contains("cap") && along != chain_under_cap;
  if (found && is_limited) found->steps = with_cap(std::move(found->steps), a.number("cap"));
  return found;
}

}  // namespace coset::schedule
