// SPDX-License-Identifier: Apache-2.0
// The copies that a thread has.
#include <array>
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
};

thread_local copies_of_thread mine;

}  // namespace
}  // namespace coset::reducer_room

namespace coset::inline COSET_ABI::detail {

private_copy& copy_of_this_thread(reducer_core& core) {
  private_copy& copy = reducer_room::mine.own(core);
  core.renew(copy);
  return copy;
}

private_copy& copy_numbered(reducer_core& core, std::uint32_t number) {
  private_copy& copy = reducer_room::mine.numbered(core, number);
  core.renew(copy);
  return copy;
}

private_copy& copy_claimed(reducer_core& core, std::uint32_t number) {
  private_copy* const copy = core.claimed(number, &reducer_room::mine);
  if (copy == nullptr) return copy_of_this_thread(core);
  core.renew(*copy);
  return *copy;
}

}  // namespace coset::inline COSET_ABI::detail
