#include <atomic>
#include <coset/coset.hpp>
#include <vector>
template <class Body>
void run_on_all_threads(std::size_t items, Body const& body) {
  for (std::size_t i = 0; i < items; ++i) body(i);
}
template <class Body>
void run_on_all_threads_by_ranges(std::size_t items, Body const& body) {
  body(std::size_t{0}, items);
}
void histogram(std::vector<double>& bins, std::size_t n, std::size_t const* key, double const* weight,
               std::size_t items) {
  // SNIPPET
}
