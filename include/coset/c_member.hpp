// SPDX-License-Identifier: Apache-2.0
// Passes a member of a C++ team to code that uses coset.h.
#pragma once

#include "coset/detail/cxx20.hpp"

#include <memory>

#include "coset/coset.h"
#include "coset/detail/visibility.h"
#include "coset/team.hpp"

namespace coset::inline COSET_ABI {

/// The same rank as a C handle, inside any team's body: that of coset::team, or of coset::mpi::team over processes.
///
///     all.run([](coset::member& me) { sum_in_c(coset::c_member(me)); });
///
/// The C++ member must outlive the handle. C code may split it, but must neither leave nor free it. C++ ranks and C
/// ranks take part in one collective.
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
