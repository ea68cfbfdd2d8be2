// SPDX-License-Identifier: Apache-2.0
// Short calls of one version of the library, as C functions behind one name.
#pragma once

namespace paired {

/// So many bytes that all of a call is its beginning, its meeting and its end; and sums that are somewhat longer.
enum class shape {
  double_sum,
  double_value,
  int_sum,
  barrier,
  double_reduce,
  doubles_64_bytes,
  doubles_1_kib,
  floats_16_kib
};

struct version {
  void* (*make)(unsigned ranks);
  /// ns a call, of the slower rank, in a run() of so many calls.
  double (*burst)(void* team, shape, int calls);
  void (*end)(void* team);
};

}  // namespace paired
