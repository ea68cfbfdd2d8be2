// SPDX-License-Identifier: Apache-2.0
// Memory that processes of one host share: a file that they map, and that is closed or loses its name once all have.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "numa/memory.hpp"

namespace coset::runtime {

/// How memory comes from the process that makes it to the others of its host.
enum class passing : std::uint32_t {
  by_descriptor,  ///< a memfd, which others open through /proc: it takes memory as it is used, and nothing of /dev/shm
  by_path,        ///< a file in /dev/shm, reserved when it is made: containers may have that in common, and no more
};

/// One process makes it and tells the others its name. What has been made never raises SIGBUS: a memfd cannot, unless the
/// system counts what it promises (overcommit_memory = 2), and is reserved there, as files are anywhere.
class shared_file {
 public:
  struct name {
    std::array<std::uint32_t, 4> number{};  ///< random; all zeros: there is no file
    std::uint32_t process = 0;              ///< which has it open as `descriptor`; 0: it is found by its path
    int descriptor = -1;
    friend bool operator==(name const&, name const&) = default;
  };

  shared_file() = default;
  shared_file(shared_file&&) noexcept;
  shared_file& operator=(shared_file&&) noexcept;
  ~shared_file() { remove(); }

  /// Of zeros; empty where the system refuses, or has no room: never a signal.
  static shared_file make(std::size_t bytes, passing) noexcept;
  name const& called() const noexcept { return name_; }
  bool empty() const noexcept { return name_ == name{}; }
  /// Nobody finds it any more. Those that have mapped it keep the memory.
  void remove() noexcept;

  /// By any process of the host; empty if it cannot have it.
  static numa::memory mapped(name const&, std::size_t bytes) noexcept;

 private:
  explicit shared_file(name const& called) : name_(called) {}
  static shared_file as_memfd(name, std::size_t bytes);
  static shared_file in_directory(name const&, std::size_t bytes);

  name name_{};
};

}  // namespace coset::runtime
