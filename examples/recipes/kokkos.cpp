// SPDX-License-Identifier: Apache-2.0
// Kokkos views that lie where coset wants them, reduced by a team of threads. docs/recipes.md explains it.
#include <coset/coset.hpp>

#include <Kokkos_Core.hpp>
#include <cstdio>
#include <cstdlib>
#include <span>

namespace {

using field = Kokkos::View<double**, Kokkos::LayoutRight, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>;

/// Any contiguous view, of whichever layout, is an array: ranks only have to use the same.
template <class View>
std::span<typename View::value_type> elements_of(View const& view) {
  if (!view.span_is_contiguous()) throw coset::argument_error("a view with gaps");
  return {view.data(), view.span()};
}

}  // namespace

int main(int argc, char* argv[]) {
  Kokkos::ScopeGuard const kokkos(argc, argv);
  coset::team team({.ranks = 2, .place = coset::placement::unbound});
  bool right = true;
  team.run([&](coset::member& me) {
    coset::buffer<double> memory(me, 64 * 64);  // on this rank's node
    field const mine(memory.data(), 64, 64);
    for (int i = 0; i < 64; ++i)
      for (int j = 0; j < 64; ++j) mine(i, j) = i + j + static_cast<int>(me.rank());
    double largest = mine(63, 63);
    coset::allreduce(me, coset::together(elements_of(mine), coset::into(largest, coset::maximum{})));
    if (me.rank() == 0) right = mine(3, 4) == 2 * 7 + 1 && largest == 127;
  });

  // A view that Kokkos itself has filled, in parallel or on a device and mirrored: one array per rank again.
  Kokkos::View<double*, Kokkos::HostSpace> filled("filled", 1000);
  Kokkos::parallel_for("fill", Kokkos::RangePolicy<Kokkos::DefaultHostExecutionSpace>(0, 1000),
                       [=](int i) { filled(i) = i; });
  Kokkos::fence();
  team.run([&](coset::member& me) {
    coset::buffer<double> total(me, 1000);
    coset::allreduce(me, elements_of(filled), total);
    if (me.rank() == 0) right = right && total[10] == 20;
  });
  std::puts(right ? "the views are right" : "wrong");
  return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
