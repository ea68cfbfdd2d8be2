// SPDX-License-Identifier: Apache-2.0
// Waits inside a barrier of somebody else's, where no code of coset's runs and tasks have to go on: a thread that only
// looks on tells of them.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace coset::runtime {

/// What threads may wait for there.
class overseen {
 public:
  /// 0 while no thread waits; does not change for as long as the same wait lasts. From the onlooker's thread.
  virtual std::uint64_t wait() const noexcept = 0;
  /// Who has come, and since when, for a message.
  virtual std::string wait_in_words(std::chrono::nanoseconds waited) const = 0;

 protected:
  ~overseen() = default;
};

/// From now on each wait that takes longer than COSET_STUCK says is told, the first one of each `overseen`; one that takes
/// longer than COSET_TIMEOUT ends the program. Starts the onlooker, once per process; it looks every eighth of these
/// times. Without memory or a thread for it there are no words.
void oversee(overseen const&) noexcept;
/// When this returns nobody looks at it any more. It need not be overseen.
void oversee_no_more(overseen const&) noexcept;

}  // namespace coset::runtime
