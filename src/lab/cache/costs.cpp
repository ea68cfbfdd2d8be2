// SPDX-License-Identifier: Apache-2.0
#include "lab/cache/costs.hpp"

#include <cmath>

#include "base/text/format.hpp"
#include "base/text/suggestion.hpp"
#include "coset/error.hpp"

namespace coset::cache {
namespace {

constexpr std::array level_names{"core", "l3", "node", "package", "machine"};
constexpr std::array link_names{"core.link", "l3.link", "node.link", "package.link", "memory.link"};
static_assert(level_names.size() == levels && link_names.size() == link_kinds);

/// Calls visit(name, value, positive) for every parameter.
template <typename Costs, typename Visit>
void for_each_cost(Costs& all, Visit visit) {
  for (std::size_t l = 0; l < levels; ++l) {
    std::string const level(level_names[l]);
    visit(level + ".read", all.line[l].read, false);
    visit(level + ".own", all.line[l].own, false);
    visit(level + ".serve", all.line[l].serve, false);
  }
  for (std::size_t k = 0; k < link_kinds; ++k) visit(std::string(link_names[k]), all.link[k], true);
  visit(std::string("memory"), all.memory, false);
  visit(std::string("looks"), all.looks, true);
  visit(std::string("streams"), all.streams, true);
  visit(std::string("stores"), all.stores, true);
  visit(std::string("hands_over"), all.hands_over, false);
  visit(std::string("act"), all.act, false);
  visit(std::string("fold"), all.fold, false);
  visit(std::string("combine"), all.combine, false);
}

[[noreturn]] void refuse(std::string_view name) {
  throw argument_error(text::format("there is no parameter '{}' of cache lines; there are {}{}", name,
                                    text::joined(names_of_costs(), ", "), text::did_you_mean(name, names_of_costs())));
}

}  // namespace

std::vector<std::string> names_of_costs() {
  std::vector<std::string> names;
  costs const defaults;
  for_each_cost(defaults, [&](std::string name, double, bool) { names.push_back(std::move(name)); });
  return names;
}

void set(costs& all, std::string_view wanted, double value) {
  bool found = false;
  for_each_cost(all, [&](std::string const& name, double& parameter, bool positive) {
    if (name != wanted) return;
    if (!std::isfinite(value) || value < 0 || (positive && value == 0))
      throw argument_error(text::format("'{}' cannot be {}: it is a finite number {} 0", name, value,
                                        positive ? "greater than" : "of at least"));
    parameter = value;
    found = true;
  });
  if (!found) refuse(wanted);
}

double get(costs const& all, std::string_view wanted) {
  double const* found = nullptr;
  for_each_cost(all, [&](std::string const& name, double const& parameter, bool) {
    if (name == wanted) found = &parameter;
  });
  if (found == nullptr) refuse(wanted);
  return *found;
}

}  // namespace coset::cache
