// SPDX-License-Identifier: Apache-2.0
// What a rank does in a round, with arrays that are made ahead: what runs out of memory then is coset's.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "coset/coset.hpp"
#include "torture/trial.hpp"

namespace coset::torture {

/// What all ranks of a process name in common.
struct common_things {
  explicit common_things(trial const&);

  std::size_t count;
  std::vector<std::vector<int>> shared;  ///< [round], of reduce_shared
  std::vector<int> bins, other_bins;
  int most = 0;
  reducer<int> dense;
  sparse_reducer<int> sparse;
  joint_reducer<int, value_of<int, maximum>> joint;
  std::optional<plan<int>> planned;
};

class deed {
 public:
  virtual ~deed() = default;
  virtual void go(member&) = 0;
  /// The same as a task: what there is to wait for.
  virtual request start(member&) { return {}; }
  /// Of reducers as tasks, by the thread that has started them.
  virtual void combine() {}
  /// Empty where the result is right.
  virtual std::string wrong() const = 0;
};

/// Of one rank in one round. `as_task`: start() is what will be called.
std::unique_ptr<deed> make_deed(trial const&, common_things&, std::uint32_t round, rank_t, rank_t ranks, bool as_task);
inline constexpr std::size_t sums_length = 50;
/// Sums of doubles that have to keep their bits from round to round, of those verbs that fold; null of others. `first` are the
/// bits of this rank's first round.
std::unique_ptr<deed> make_sum(trial const&, rank_t, rank_t ranks, std::vector<double>& common,
                               std::vector<double>& first);

}  // namespace coset::torture
