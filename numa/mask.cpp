// SPDX-License-Identifier: Apache-2.0
// A set of processors as the kernel keeps it.
#include "numa/mask.hpp"

#include <algorithm>
#include <cerrno>

namespace coset::numa {
namespace {

// More than any kernel supports; a nonsensical index still costs little memory.
constexpr unsigned most_processors = 1U << 20;

}  // namespace

// Value-initialised chunks are empty sets.
mask::mask(unsigned processors) : chunks_(processors / CPU_SETSIZE + 1) {}

mask mask::single(unsigned os_index) {
  if (os_index >= most_processors) return {};
  mask result(os_index);
  CPU_SET_S(os_index, result.bytes(), result.chunks_.data());
  return result;
}

mask mask::of_thread(pid_t thread) {
  // The kernel answers EINVAL to a set smaller than its own and does not report the size of its own.
  for (unsigned processors = CPU_SETSIZE - 1; processors < most_processors; processors = 2 * processors + 1) {
    mask result(processors);
    if (sched_getaffinity(thread, result.bytes(), result.chunks_.data()) == 0) return result;
    if (errno != EINVAL) break;
  }
  return {};
}

bool mask::contains(unsigned os_index) const {
  return os_index < chunks_.size() * CPU_SETSIZE && CPU_ISSET_S(os_index, bytes(), chunks_.data());
}

unsigned mask::count() const { return static_cast<unsigned>(CPU_COUNT_S(bytes(), chunks_.data())); }

void mask::merge(mask const& other) {
  if (other.chunks_.empty()) return;  // of a thread that has gone meanwhile
  chunks_.resize(std::max(chunks_.size(), other.chunks_.size()));
  CPU_OR_S(other.bytes(), chunks_.data(), chunks_.data(), other.chunks_.data());
}

bool operator==(mask const& a, mask const& b) {
  mask both = a;  // sets of different sizes may be equal
  both.merge(b);
  return both.count() == a.count() && both.count() == b.count();
}

bool mask::apply() const { return sched_setaffinity(0, bytes(), chunks_.data()) == 0; }

}  // namespace coset::numa
