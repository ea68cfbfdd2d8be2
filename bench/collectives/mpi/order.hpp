// SPDX-License-Identifier: Apache-2.0
// What the benchmark tells the processes of the MPI rival, a line each way: an order, and "wrong sample sample …".
#pragma once

#include <istream>
#include <ostream>

#include "command/measure/harness/contestant.hpp"

namespace coset::measure {

struct mpi_order {
  problem shape;
  burst_order burst;
};

inline std::ostream& operator<<(std::ostream& out, mpi_order const& o) {
  return out << int(o.shape.what) << ' ' << int(o.shape.element) << ' ' << int(o.shape.operation) << ' '
             << o.shape.count << ' ' << int(o.burst.timing) << ' ' << o.burst.warmup << ' ' << o.burst.iterations
             << std::endl;
}

inline std::istream& operator>>(std::istream& in, mpi_order& o) {
  int what = 0, element = 0, operation = 0, timed = 0;
  in >> what >> element >> operation >> o.shape.count >> timed >> o.burst.warmup >> o.burst.iterations;
  o.shape.what = static_cast<verb>(what);
  o.shape.element = static_cast<element_kind>(element);
  o.shape.operation = static_cast<operation_kind>(operation);
  o.burst.timing = static_cast<timing>(timed);
  return in;
}

}  // namespace coset::measure
