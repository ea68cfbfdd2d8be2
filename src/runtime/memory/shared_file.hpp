// SPDX-License-Identifier: Apache-2.0
// Memory that processes of one host share: a file that they map, and that loses its name once all have.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "numa/memory.hpp"

namespace coset::runtime {

/// A directory in memory, which processes of one host share unless they are in containers.
inline constexpr char const* directory_of_shared_files = "/dev/shm";

/// Nobody notices when the directory is full, until it is written: what may be used of it, in bytes.
std::uint64_t room_for_shared_files();

/// One process makes it and tells the others its name.
class shared_file {
 public:
  using name = std::array<std::uint32_t, 4>;  ///< all zeros: there is no file

  shared_file() = default;
  shared_file(shared_file&&) noexcept;
  shared_file& operator=(shared_file&&) noexcept;
  ~shared_file() { remove(); }

  /// Of zeros; empty if the system has none of that length.
  static shared_file make(std::size_t bytes);
  name const& called() const noexcept { return name_; }
  bool empty() const noexcept { return name_ == name{}; }
  /// Takes the name away. Those that have mapped it keep the memory.
  void remove() noexcept;

  /// By any process of the host; empty if it cannot have it.
  static numa::memory mapped(name const&, std::size_t bytes);

 private:
  name name_{};
};

}  // namespace coset::runtime
