#include <tbb/blocked_range.h>
#include <tbb/enumerable_thread_specific.h>
#include <tbb/parallel_for.h>
#include <coset/tbb.hpp>
#include <utility>
#include <vector>
void histogram(std::vector<double>& bins, std::size_t n, int const* key, double const* weight,
               tbb::blocked_range<std::size_t> const& range) {
  // SNIPPET
}
