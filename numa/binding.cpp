// SPDX-License-Identifier: Apache-2.0
// Where threads run: pinning, masks and quotas.
#include "numa/binding.hpp"

#include <dirent.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>

#include "base/environment/variables.hpp"
#include "coset/error.hpp"
#include "numa/affinity.hpp"
#include "numa/mask.hpp"
#include "numa/quota.hpp"

namespace coset::numa {
namespace {

thread_local bool bound = false;

/// Of no other thread of this process, those that have ended included: what the system and the C library call a thread is used again.
std::uint64_t number_of_this_thread() {
  static std::atomic<std::uint64_t> latest = 0;
  thread_local std::uint64_t const number = latest.fetch_add(1, std::memory_order_relaxed) + 1;
  return number;
}

}  // namespace

struct saved_mask::state {
  std::uint64_t thread = number_of_this_thread();
  mask saved = mask::of_thread(0);
  bool was_bound = bound;
};

saved_mask::saved_mask() : state_(std::make_unique<state>()) {}
saved_mask::~saved_mask() { restore(); }
saved_mask::saved_mask(saved_mask&&) noexcept = default;

saved_mask& saved_mask::operator=(saved_mask&& other) noexcept {
  restore();
  state_ = std::move(other.state_);
  return *this;
}

void saved_mask::restore() noexcept {
  // Only on the mask's own thread: elsewhere it would pin or free another thread.
  if (state_ == nullptr || state_->thread != number_of_this_thread()) return;
  state_->saved.apply();
  bound = state_->was_bound;
  state_.reset();
}

bool binding_wanted() { return environment::value("COSET_BIND") != "no"; }

void bind_this_thread(unsigned os_index) {
  if (!binding_wanted()) return;
  if (mask::single(os_index).apply()) {
    bound = true;
    return;
  }
  throw topology_error("cannot pin a thread to processor " + std::to_string(os_index) + ": " +
                       std::system_category().message(errno) + "; COSET_BIND=no leaves threads where they are");
}

bool is_bound() noexcept { return bound; }

std::optional<unsigned> current_node() noexcept {
  unsigned processor = 0, node = 0;
  if (getcpu(&processor, &node) != 0) return std::nullopt;
  return node;
}

std::optional<unsigned> processor_of_this_thread() noexcept {
  int const processor = sched_getcpu();
  return processor < 0 ? std::nullopt : std::optional(static_cast<unsigned>(processor));
}

unsigned current_processor() {
  auto const processor = processor_of_this_thread();
  if (!processor) throw topology_error("the system does not report which processor a thread runs on");
  return *processor;
}

mask processors_of_all_threads() {
  mask processors;
  // Not by std::filesystem, whose iterator ends the program where memory is short.
  std::unique_ptr<DIR, int (*)(DIR*)> const tasks(opendir("/proc/self/task"), closedir);
  while (dirent const* const thread = tasks ? readdir(tasks.get()) : nullptr)
    if (thread->d_name[0] != '.') processors.merge(mask::of_thread(std::atoi(thread->d_name)));
  processors.merge(affinity_of_process().processors);
  return processors;
}

unsigned usable_processors() {
  mask const processors = processors_of_all_threads();
  auto const quota = std::ceil(recent_processor_quota().value_or(std::numeric_limits<unsigned>::max()));
  return static_cast<unsigned>(std::clamp<double>(processors.count(), 1, std::max(quota, 1.0)));
}

}  // namespace coset::numa
