#include <omp.h>
#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/parallel_for.h>
#include <chrono>
#include <coset/coset.hpp>
#include <coset/mpi.hpp>
#include <coset/omp.hpp>
#include <coset/tbb.hpp>
#include <cstdio>
#include <vector>
extern coset::mpi::team& all;
extern std::vector<int> const key;
extern std::vector<double> const weight;
extern ::tbb::blocked_range<std::size_t> const range;
extern std::size_t const n;
extern int const steps;
void write_to_file(std::vector<double> const&);
void advance(double*, std::size_t count);
void statements() {
  // SNIPPET
}
