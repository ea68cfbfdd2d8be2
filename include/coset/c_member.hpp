// SPDX-License-Identifier: Apache-2.0
// A member of a C++ team for code that is written against coset.h.
#pragma once

#include <memory>

#include "coset/coset.h"
#include "coset/team.hpp"
#include "coset/visibility.h"

namespace coset {

/// The same rank as C functions take it, inside any team's body: coset::team's, or coset::mpi::team's over processes,
/// which C has no functions to make.
///
///     all.run([](coset::member& me) { sum_in_c(coset::c_member(me)); });
///
/// The member outlives it. C code may split it, but neither leaves nor frees it. C++ and C ranks meet in one collective.
/// Cost: an allocation.
class COSET_API c_member {
 public:
  explicit c_member(member&);
  ~c_member();
  c_member(c_member const&) = delete;
  c_member& operator=(c_member const&) = delete;

  operator coset_member*() const noexcept;

 private:
  std::unique_ptr<coset_member> made_;
};

}  // namespace coset
