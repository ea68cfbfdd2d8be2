#include <coset/omp.hpp>
#include <cstddef>
#include <tuple>
#include <vector>
// SNIPPET
