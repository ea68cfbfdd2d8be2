#include <omp.h>
#include <chrono>
#include <coset/coset.hpp>
#include <coset/mpi.hpp>
#include <cstdio>
#include <vector>
void statements() {
  // SNIPPET
}
