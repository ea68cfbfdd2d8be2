// SPDX-License-Identifier: Apache-2.0
// A set of processors as the kernel keeps it: of any size, where cpu_set_t ends at 1024.
#pragma once

#include <sched.h>
#include <sys/types.h>

#include <vector>

namespace coset::numa {

class mask {
 public:
  mask() = default;
  /// Empty if no kernel could have such a processor.
  static mask single(unsigned os_index);
  /// The mask of a thread of this process, 0 being the calling one; empty if the kernel does not tell.
  static mask of_thread(pid_t thread);

  bool contains(unsigned os_index) const;
  unsigned count() const;
  void merge(mask const& other);
  friend bool operator==(mask const& a, mask const& b);
  /// Makes this the mask of the calling thread; false with errno set if the kernel refuses.
  bool apply() const;

 private:
  explicit mask(unsigned processors);
  std::size_t bytes() const { return chunks_.size() * sizeof(cpu_set_t); }

  std::vector<cpu_set_t> chunks_;  // one long bit set: the CPU_*_S macros run on through the chunks
};

}  // namespace coset::numa
