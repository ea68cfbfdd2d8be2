// SPDX-License-Identifier: Apache-2.0
// A reducer's combination in split phase.
#pragma once

#include "coset/detail/cxx20.hpp"

#include <memory>
#include <utility>

#include "coset/detail/visibility.h"

namespace coset::inline COSET_ABI {
namespace detail {
struct combination_under_way;
}

/// What start_combine() returns on each rank, with the rules of request: until it is complete nobody touches the targets and the
/// copies, and the rank remains one. It advances in the library's calls only. Giving it up before that aborts the team; where
/// nothing travels any more, as of most sparse reducers, the reducer refuses to combine until reset().
///
/// What is added to targets is added by the ranks of the process, each a share, as soon as a rank finds its part complete, in
/// whichever call that is; the targets are complete when all of them have come so far.
class COSET_API started_combination {
 public:
  started_combination() = default;  ///< complete
  started_combination(started_combination&&) noexcept = default;
  started_combination& operator=(started_combination&&) noexcept = default;

  /// True once complete: the targets hold the result, and the copies are empty. Throws what an operation threw.
  bool test();
  void wait();

  explicit started_combination(std::shared_ptr<detail::combination_under_way> rest) noexcept : rest_(std::move(rest)) {}

 private:
  void finish() noexcept;

  std::shared_ptr<detail::combination_under_way> rest_;  ///< null once complete
};

}  // namespace coset
