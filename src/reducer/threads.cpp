// SPDX-License-Identifier: Apache-2.0
// The copies that a thread has.
#include <pthread.h>

#include <array>
#include <atomic>
#include <unordered_map>

#include "reducer/core.hpp"

namespace coset::reducer_room {
namespace {

using detail::private_copy;
using detail::reducer_core;

/// Reducers are identified by numbers that are never reused, as their addresses may be. A thread that ends gives copies
/// back only to reducers that still exist.
class copies_of_thread {
 public:
  ~copies_of_thread() {
    for (auto const& [id, mine] : own_)
      if (auto const core = mine.of.lock()) core->give_back(*mine.copy);
  }

  private_copy& own(reducer_core& core) {
    recent& last = recent_for(core);
    if (last.id == core.id() && !last.numbered) [[likely]]
      return *last.copy;
    auto at = own_.find(core.id());
    if (at == own_.end()) {
      if (own_.size() >= forget_at_) forget_the_dead();
      at = own_.try_emplace(core.id(), owned{core.weak_from_this(), nullptr}).first;
      try {
        at->second.copy = &core.take();
      } catch (...) {
        own_.erase(at);
        throw;
      }
    }
    last = {core.id(), false, 0, at->second.copy};
    return *last.copy;
  }

  private_copy& numbered(reducer_core& core, std::uint32_t number) {
    recent& last = recent_for(core);
    if (last.id == core.id() && last.numbered && last.number == number) [[likely]]
      return *last.copy;
    private_copy& copy = core.numbered(number);
    last = {core.id(), true, number, &copy};
    return copy;
  }

  /// Called in each round of the destructors of keys, until it says true.
  bool is_last_round() noexcept { return ++rounds_ == 3; }

 private:
  struct recent {
    std::uint64_t id = 0;  ///< 0: none
    bool numbered = false;
    std::uint32_t number = 0;
    private_copy* copy = nullptr;
  };
  struct owned {
    std::weak_ptr<reducer_core> of;
    private_copy* copy;
  };

  recent& recent_for(reducer_core const& core) {
    return recent_[(core.id() >> detail::key_bits_of_claims) % recent_.size()];
  }

  void forget_the_dead() {
    std::erase_if(own_, [](auto const& entry) { return entry.second.of.expired(); });
    forget_at_ = 2 * own_.size() + 16;
  }

  std::array<recent, 8> recent_ = {};
  std::unordered_map<std::uint64_t, owned> own_;
  std::size_t forget_at_ = 16;
  int rounds_ = 0;
};

/// Null until the thread asks for a copy. It has no destructor, so that the thread may reduce until its end: in
/// destructors of its other variables, whichever was made first, of static objects and in functions of atexit().
constinit thread_local copies_of_thread* mine = nullptr;

std::atomic<bool> has_key = false;
pthread_key_t key = 0;

/// The system calls it when a thread ends, after the destructors of all thread_local variables, in four rounds for as
/// long as somebody asks for another one. Other keys' destructors may reduce in the first ones, and sanitizers give the
/// thread up in the last.
void end_thread(void* of) noexcept {
  auto* const ending = static_cast<copies_of_thread*>(of);
  if (!ending->is_last_round() && pthread_setspecific(key, of) == 0) return;
  mine = nullptr;
  delete ending;
}

/// Copies of threads that ended unnoticed belong to nobody until their reducer ends; what is in them counts: where the
/// process has no key left, and those of the thread that ends the process.
copies_of_thread& begin_thread() {
  numa::fork_waits const until_made;
  static bool const made [[maybe_unused]] = [] {
    has_key = pthread_key_create(&key, &end_thread) == 0;
    return true;
  }();
  mine = new copies_of_thread;
  if (has_key) pthread_setspecific(key, mine);
  return *mine;
}

/// Before the code of end_thread() is unloaded, and as late as can be: 101 is the last for programs. When the process ends threads may still reduce after it.
[[gnu::destructor(101)]] void delete_key() {
  if (has_key.exchange(false)) pthread_key_delete(key);
}

copies_of_thread& copies_here() {
  if (mine == nullptr) [[unlikely]]
    return begin_thread();
  return *mine;
}

}  // namespace
}  // namespace coset::reducer_room

namespace coset::inline COSET_ABI::detail {

private_copy& copy_of_this_thread(reducer_core& core) {
  private_copy& copy = reducer_room::copies_here().own(core);
  core.renew(copy);
  return copy;
}

private_copy& copy_numbered(reducer_core& core, std::uint32_t number) {
  private_copy& copy = reducer_room::copies_here().numbered(core, number);
  core.renew(copy);
  return copy;
}

private_copy& copy_claimed(reducer_core& core, std::uint32_t number) {
  private_copy* const copy = core.claimed(number, &reducer_room::mine);
  if (copy == nullptr) return copy_of_this_thread(core);
  core.renew(*copy);
  return *copy;
}

}  // namespace coset::detail
