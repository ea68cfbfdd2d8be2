// SPDX-License-Identifier: Apache-2.0
// A reducer's combination in split phase.
#pragma once

#include "coset/detail/cxx20.hpp"

#include <cstdint>
#include <memory>
#include <vector>

#include "coset/detail/visibility.h"
#include "coset/request.hpp"

namespace coset::inline COSET_ABI {
namespace detail {
class reducer_core;
struct private_copy;
}  // namespace detail

/// What start_combine() returns on each rank, with the rules of request: until it is complete nobody touches the targets, and
/// the rank remains one. It advances in the library's calls only. Giving it up before that aborts the team.
class COSET_API started_combination {
 public:
  started_combination() = default;  ///< complete
  started_combination(started_combination&&) noexcept = default;
  started_combination& operator=(started_combination&&) noexcept = default;

  /// True once complete: the targets hold the result, and the copies are empty.
  bool test();
  void wait();

  started_combination(std::shared_ptr<detail::reducer_core> of, detail::private_copy& mine, rank_t ranks,
                      std::vector<request> parts)
      : of_(std::move(of)), mine_(&mine), ranks_(ranks), parts_(std::move(parts)) {}

 private:
  void finish() noexcept;

  std::shared_ptr<detail::reducer_core> of_;  ///< null once complete
  detail::private_copy* mine_ = nullptr;
  rank_t ranks_ = 0;  ///< of this process
  std::vector<request> parts_;
};

}  // namespace coset
