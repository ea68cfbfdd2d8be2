// SPDX-License-Identifier: Apache-2.0
// The data of a benchmark: inputs that change with every iteration, and the one right answer to each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "coset/error.hpp"
#include "coset/verbs/verb.hpp"
#include "numa/memory.hpp"

namespace coset::measure {

/// What can be measured: the rivals' types and operations; beside reproducible sums the rivals show plain sums.
enum class element_kind : std::uint8_t { int32, int64, float32, float64 };
enum class operation_kind : std::uint8_t { plus, multiplies, minimum, maximum, reproducible_plus };

struct problem {
  element_kind element = element_kind::float32;
  operation_kind operation = operation_kind::plus;
  std::size_t count = 0;
  rank_t ranks = 1;
  verb what = verb::allreduce;  ///< rooted ones at rank 0

  std::size_t element_bytes() const noexcept;
  std::size_t bytes() const noexcept { return count * element_bytes(); }
};

/// Items [begin, end) of the whole vector.
struct items {
  std::size_t begin = 0, end = 0;
};
/// The items that a rank contributes and ends with; arrays of pieces begin with the piece.
items gives(problem const&, rank_t) noexcept;
items gets(problem const&, rank_t) noexcept;
/// Rank r's of P equal pieces.
items piece_of(problem const&, rank_t) noexcept;

/// nccl-tests' names: float, double, int32, int64; sum, prod, min, max; and repsum, of float and double. The parsers
/// throw argument_error naming all.
std::string_view name_of(element_kind) noexcept;
std::string_view name_of(operation_kind) noexcept;
element_kind element_named(std::string_view);
operation_kind operation_named(std::string_view);

inline constexpr std::size_t period = 8;
/// Up to so many items are written and read inline; they lie side by side from any item of a period on.
inline constexpr std::size_t few_items = 2 * period;

/// Buffers of one shape. Item i of rank r in iteration k depends on r and (i + k) mod period only and is a small whole
/// number, so that every result is exact in any order of folding and can be written and checked at the speed of memory.
class workload {
 public:
  explicit workload(problem const&);

  /// Lets the pages of rank r's arrays come from the node of the caller, who has to be the first to use them.
  void touch(rank_t r) const noexcept;
  /// Pages of rank r's arrays by node, as the system numbers them. For a thread on rank r's processor: a kernel that balances
  /// NUMA may move pages to whoever looks.
  std::map<unsigned, std::size_t> pages_by_node(rank_t r) const;

  problem const& shape() const noexcept { return shape_; }

  std::byte* input(rank_t r) const noexcept { return inputs_[r].begin; }
  std::byte* output(rank_t r) const noexcept { return outputs_[r].begin; }
  std::byte* shared_output() const noexcept { return shared_output_.begin; }

  /// Writes rank r's input of iteration k. Inline, and without a look at the shape: a program that reduces two numbers
  /// takes no time to write them either.
  void rewrite(rank_t r, std::size_t k) const noexcept {
    part const& mine = given_[r];
    std::byte const* const from = mine.at(k, item_bytes_);
    if (mine.count <= few_items)
      copy_few(input(r), from, mine.count * item_bytes_);
    else
      fill_(input(r), from, mine.count);
  }

  /// Writes what rank r shall have of iteration 0 into its output.
  void write_result(rank_t r) const noexcept;

  /// Reads all that rank r has of iteration k; returns how many items are wrong.
  std::size_t wrong(rank_t r, std::byte const* result, std::size_t k) const noexcept {
    if (comes_in_pieces()) [[unlikely]]
      return wrong_pieces(r, result, k);
    part const& mine = got_[r];
    std::byte const* const right = mine.at(k, item_bytes_);
    if (mine.count <= few_items && are_equal(result, right, mine.count * item_bytes_)) return 0;
    std::size_t found = 0;
    check_(result, right, mine.count, &found);
    return found;
  }

 private:
  /// Pages of its own: what malloc gives has often been touched by somebody on another node.
  struct buffer {
    numa::memory memory;
    std::byte *pages = nullptr, *begin = nullptr;
    std::size_t bytes = 0;  ///< of the pages
  };
  using filler = void (*)(std::byte* to, std::byte const* pattern, std::size_t count);
  using checker = void (*)(std::byte const* from, std::byte const* pattern, std::size_t count, std::size_t* wrong);

  /// The items of a pattern from the `begin`th on.
  struct part {
    std::byte const* pattern;
    std::size_t begin, count;

    std::byte const* at(std::size_t k, std::size_t item_bytes) const {
      return pattern + (begin + k) % period * item_bytes;
    }
  };

  /// Whether a result has something else of each rank.
  bool comes_in_pieces() const noexcept {
    return detail::gives_pieces(shape_.what) || detail::swaps_pieces(shape_.what);
  }
  /// Calls visit(the piece that rank r has of each rank, its place in bytes).
  template <class Visit>
  void for_each_piece(rank_t r, Visit visit) const noexcept;

  buffer allocate();
  std::byte const* pattern_of(std::size_t row) const noexcept;
  part part_of(std::size_t row, items which) const noexcept;
  std::size_t wrong_pieces(rank_t, std::byte const* result, std::size_t k) const noexcept;

  /// Copies whole items of 4 or 8 bytes.
  static void copy_few(std::byte* to, std::byte const* from, std::size_t bytes) noexcept {
    std::size_t i = 0;
    for (; i + 8 <= bytes; i += 8) std::memcpy(to + i, from + i, 8);
    if (i < bytes) std::memcpy(to + i, from + i, 4);
  }
  static bool are_equal(std::byte const* a, std::byte const* b, std::size_t bytes) noexcept {
    std::uint64_t difference = 0;
    std::size_t i = 0;
    auto const compare = [&](auto word) {
      auto other = word;
      std::memcpy(&word, a + i, sizeof word);
      std::memcpy(&other, b + i, sizeof other);
      difference |= word ^ other;
    };
    for (; i + 8 <= bytes; i += 8) compare(std::uint64_t{});
    if (i < bytes) compare(std::uint32_t{});
    return difference == 0;
  }

  problem shape_;
  std::size_t item_bytes_;
  std::vector<part> given_, got_;  ///< [rank]
  std::vector<buffer> inputs_, outputs_;
  buffer shared_output_;
  std::size_t allocated_ = 0;
  std::vector<std::byte> patterns_;  ///< [rank, then the result of ranks 0 to r][pattern_items]
  filler fill_;
  checker check_;
};

}  // namespace coset::measure
