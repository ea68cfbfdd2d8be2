// SPDX-License-Identifier: Apache-2.0
// All predefined datatypes of MPI, with values to send and the operations that MPI defines for them.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace coset::interpose_test {

/// MPI's groups, by which it allows operations (MPI 4.0, section 6.9.2).
enum class group { integer, fortran_integer, floating, logical, complex, byte, multi_language, pair, moved_only };

struct element {
  MPI_Datatype type;
  std::string name;
  group of;
  std::size_t size;  ///< bytes from one to the next
  /// Small numbers, of which sums and products over ten ranks are exact.
  void (*draw)(std::byte* at, std::mt19937&);
  /// Without bytes that are no data.
  bool (*same)(std::byte const*, std::byte const*);
};

/// Those that this MPI has.
std::vector<element> const& elements();

struct operation {
  MPI_Op handle;
  std::string name;
};
/// Those that MPI defines for it, and this MPI carries out.
std::vector<operation> operations_for(element const&);

/// An array of elements between bytes that nobody may write.
class array {
 public:
  array(element const&, std::size_t count);
  void draw(std::uint64_t seed);

  void* data() { return bytes_.data() + guard; }
  std::byte* at(std::size_t i) { return bytes_.data() + guard + i * of_->size; }
  std::byte const* at(std::size_t i) const { return bytes_.data() + guard + i * of_->size; }
  std::size_t count() const { return count_; }
  /// What is wrong with it beside what should be there, or nothing.
  std::string difference(array const& expected) const;

 private:
  static constexpr std::size_t guard = 64;

  element const* of_;
  std::size_t count_;
  std::vector<std::byte> bytes_;
};

}  // namespace coset::interpose_test
