// SPDX-License-Identifier: Apache-2.0
// Scatters by coset: whole loops, chosen and by each way; reductions, kept and made anew.
#include <fmt/format.h>

#include <memory>
#include <optional>

#include "bench/scatter/rivals.hpp"
#include "coset/omp.hpp"
#include "coset/omp/scatter_add.hpp"

namespace coset::measure {
namespace {

constexpr struct {
  way by;
  char const* name;
} ways_by_name[] = {{way::one_thread, "one_thread"},
                    {way::owner_scan, "owner_scan"},
                    {way::partition, "partition"},
                    {way::private_copies, "private_copies"},
                    {way::atomics, "atomics"}};

char const* name_of(way by) {
  for (auto const& each : ways_by_name)
    if (each.by == by) return each.name;
  return "chosen";
}

template <class T>
void whole_loop(scatter_work<T>& of, scatter_options const& options) {
  if constexpr (scatter_work<T>::counts) {
    omp::scatter_add(of.all(), of.all_keys(), detail::count_one(), plus(), options);
  } else {
    omp::scatter_add(of.all(), of.all_keys(), of.all_values(), plus(), options);
  }
}

/// By omp::reduction or omp::sparse_reduction.
template <class T, class Sum>
void element_by_element(scatter_work<T> const& of, Sum& sum) {
  auto const* const key = of.keys();
  value_reader const value(of);
  std::size_t const updates = of.updates();
#pragma omp parallel
  {
    auto&& mine = sum.local();
#pragma omp for schedule(static) nowait
    for (std::size_t u = 0; u < updates; ++u) mine[key[u]] += value[u];
    sum.combine(omp::nowait);
  }
}

/// `make` makes the reduction.
template <class T, class Make>
void add_reduction(scatter_ways& ways, scatter_work<T>& of, std::string const& name, Make make) {
  using sum_type = decltype(make());
  ways.push_back({name + ", kept", origin::other, [&of, make, sum = std::make_shared<std::optional<sum_type>>()] {
                    if (!*sum) sum->emplace(make());
                    element_by_element(of, **sum);
                  }});
  ways.push_back({name + ", anew", origin::other, [&of, make] {
                    sum_type sum = make();
                    element_by_element(of, sum);
                  }});
}

}  // namespace

template <class T>
void add_coset(scatter_ways& ways, scatter_work<T>& of, int threads) {
  ways.push_back({"coset", origin::chosen, [&of] { whole_loop(of, {}); }});
  for (auto const& each : ways_by_name) {
    if (each.by == way::private_copies && !copies_fit(of, threads)) continue;
    scatter_options const options{.by = each.by, .most_bytes = std::size_t{4} << 30};
    ways.push_back({fmt::format("coset {}", each.name), origin::own, [&of, options] { whole_loop(of, options); }});
  }
  if (copies_fit(of, threads)) {
    add_reduction(ways, of, "coset sparse", [&of] { return omp::sparse_reduction(of.all()); });
    add_reduction(ways, of, "coset dense", [&of] { return omp::reduction(of.all()); });
  }
}

template <class T>
std::string facts_and_plan(scatter_work<T>& of, int threads) {
  std::string found;
  auto const describe = [&](auto const& loop) {
    detail::update_loops const loops(loop);
    auto const sample = detail::sample_of(loops);
    auto const plan = detail::choose(detail::facts_of(loops, &sample, static_cast<std::size_t>(threads)), {});
    found = fmt::format("{}, batches of {}, parts of 2^{}", name_of(plan.by), plan.batch, plan.shift);
  };
  if constexpr (scatter_work<T>::counts) {
    detail::with_written_loop(of.all(), of.all_keys(), detail::count_one(), plus(), describe);
  } else {
    detail::with_written_loop(of.all(), of.all_keys(), of.all_values(), plus(), describe);
  }
  return found;
}

template void add_coset(scatter_ways&, scatter_work<double>&, int);
template void add_coset(scatter_ways&, scatter_work<std::uint32_t>&, int);
template std::string facts_and_plan(scatter_work<double>&, int);
template std::string facts_and_plan(scatter_work<std::uint32_t>&, int);

}  // namespace coset::measure
