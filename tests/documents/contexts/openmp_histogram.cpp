#include <coset/omp.hpp>
#include <span>
void histogram(double* bins, std::size_t n, int const* key, double const* weight, int items) {
  // SNIPPET
}
