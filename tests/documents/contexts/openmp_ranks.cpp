#include <coset/coset.hpp>
#include <coset/omp.hpp>
#include <vector>
void ranks() {
  // SNIPPET
}
