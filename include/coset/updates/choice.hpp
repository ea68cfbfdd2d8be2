// SPDX-License-Identifier: Apache-2.0
// What is known of a loop of updates before it runs, and what is made of that.
#pragma once

#include "coset/detail/cxx20.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

#include "coset/updates/options.hpp"

namespace coset::inline COSET_ABI::detail {

/// Keys that were looked at, evenly spread over a loop, in its order: what a choice is made from.
class COSET_API key_sample {
 public:
  /// Of groups of neighbouring elements.
  struct groups_touched {
    double all;
    double hot;        ///< those that updates meet again and again; all where they are touched alike
    double hot_share;  ///< of the updates, that go to these
  };
  static constexpr std::size_t most = 512;
  /// Of a loop of fewer updates nothing is asked: a thread has carried it out before a choice is made.
  static constexpr std::size_t least_updates = 4096;
  /// From one key that is looked at to the next.
  static constexpr std::size_t stride_of(std::size_t updates) noexcept {
    constexpr std::size_t usual = 1024, least = 32;
    return updates / (updates < usual * least ? least : updates < usual * most ? updates / usual : most) + 1;
  }

  void add(std::size_t key) noexcept { keys_[count_++] = key; }
  /// After the last key; what follows is asked only then.
  void sort() noexcept;

  std::size_t count() const noexcept { return count_; }
  /// What a loop of so many updates touches of `groups` of 2^shift elements, as far as the sample tells.
  groups_touched touched(unsigned shift, double groups, double updates) const noexcept;
  /// How much of what it touches the loop has to do with at a time: all of it, 1, where keys come in no order, and next to
  /// nothing where they are sorted; half, if it is done with one half before it comes to the other.
  double at_a_time() const noexcept { return at_a_time_; }
  /// The largest share of all updates that goes to one group of 2^shift neighbouring elements.
  double largest_share(unsigned shift) const noexcept;
  /// A key below which about this part of all updates goes.
  std::size_t quantile(std::size_t part, std::size_t parts) const noexcept;

 private:
  std::array<std::size_t, most> keys_;
  std::size_t count_ = 0;
  double at_a_time_ = 1;
};

/// Counts only: the same program with the same data and as many threads chooses the same.
struct update_facts {
  std::size_t length = 0;         ///< elements of the target
  std::size_t element_bytes = 0;  ///< of all arrays at one index together
  std::size_t record_bytes = 0;   ///< of an update that is kept for later; 0: it cannot be kept
  std::size_t updates = 0;
  std::size_t threads = 1;
  key_sample const* sample = nullptr;
  struct {
    bool copies : 1 = false;        ///< the operation commutes and has an identity
    bool atomics : 1 = false;       ///< the processor has, or can imitate, the operation on such elements
    bool exact : 1 = false;         ///< the order of updates cannot change bits
    bool exact_copies : 1 = false;  ///< nor can folding copies into what no update has met
  } can = {};
};

struct update_plan {
  way by = way::one_thread;
  std::size_t batch = 0;  ///< updates that are partitioned at once
  unsigned shift = 0;     ///< a part of the target has 2^shift elements
};

/// Throws argument_error for a way that cannot be obeyed: copies without an identity, atomics of elements that have none,
/// serial bits by a way that has others, private copies beyond most_bytes.
COSET_API update_plan choose(update_facts const&, scatter_options const&);
/// Whether one thread has carried out the loop, wherever its updates go, before others would have begun to help. Needs no
/// sample, and is how a way is chosen for such loops.
COSET_API bool is_too_little_to_share(update_facts const&);

}  // namespace coset::detail
