// SPDX-License-Identifier: Apache-2.0
// Several arrays and values as one vector, without their types: each element of the vector is a row with a slice of each.
#pragma once

#include <array>
#include <cstddef>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>

#include "coset/detail/collective.hpp"
#include "coset/detail/reduction.hpp"
#include "coset/plan.hpp"

namespace coset::inline COSET_ABI::detail {

/// The bytes that a row may have. Vectors of different lengths share few sizes, so that the tables of a combination of
/// types are few, too. Whatever is shorter than the longest is one row.
inline constexpr std::array<std::size_t, 19> row_sizes{8,   16,  24,  32,  40,   48,   64,   96,   128, 192,
                                                       256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096};
inline constexpr std::size_t longest_row = row_sizes.back();

/// A reduction and its operation, as folds get it.
struct joint_reduction {
  reduction_table const* table;
  void const* operation;
};

/// One of the arrays and values.
struct joint_part {
  joint_reduction travelling;            ///< of its elements as they travel
  joint_reduction own;                   ///< of the caller's elements
  void* place;                           ///< the caller's
  std::size_t count;                     ///< elements
  std::size_t element_bytes, alignment;  ///< the caller's elements; those that travel
  void (*pack)(void* to, void const* from, std::size_t count) noexcept;
  void (*unpack)(void* to, void const* from, std::size_t count) noexcept;
  std::size_t at = 0;     ///< byte of each row where its slice begins; by the library, as the next
  std::size_t slice = 0;  ///< elements in each row but the last ones
  bool stays = false;     ///< in its place: too long to be copied
};

/// What follows from the types and operations alone; one for all calls that have them.
class COSET_API joint_kind {
 public:
  /// `parts`: the tables of the callers' types and operations.
  explicit joint_kind(std::initializer_list<reduction_table const*> parts);
  joint_kind(joint_kind const&) = delete;
  joint_kind& operator=(joint_kind const&) = delete;

  /// For rows of row_sizes[size] bytes.
  reduction_table const& table(std::size_t size) const noexcept { return tables_[size]; }

 private:
  std::string types_, operations_;
  std::array<reduction_table, row_sizes.size()> tables_;
};

COSET_API void run_joint(rank_state&, joint_kind const&, std::span<joint_part> parts);
/// Keeps `operations` until the request is complete. Without them all ranks throw out_of_memory.
COSET_API request start_joint(rank_state&, joint_kind const&, std::span<joint_part const> parts,
                              std::shared_ptr<void const> operations);
COSET_API plan_pair make_joint_plans(team_state&, joint_kind const&, std::span<joint_part> parts, plan_options const&);
COSET_API void execute_joint(rank_state&, plan_pair const&, joint_kind const&, std::span<joint_part> parts);

}  // namespace coset::detail
