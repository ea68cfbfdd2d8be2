// SPDX-License-Identifier: Apache-2.0
// The data of a benchmark: inputs that change with every iteration, and the one right answer to each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "coset/error.hpp"
#include "coset/verb.hpp"

namespace coset::bench {

/// What can be measured: the rivals' types and operations; beside reproducible sums they show their plain ones.
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
/// What a rank brings and what it ends with; arrays of pieces begin with the piece.
items gives(problem const&, rank_t) noexcept;
items gets(problem const&, rank_t) noexcept;
/// Rank r's of P equal pieces.
items piece_of(problem const&, rank_t) noexcept;

/// nccl-tests' names: float, double, int32, int64; sum, prod, min, max; and repsum, of float and double. The parsers throw argument_error naming all.
std::string_view name_of(element_kind) noexcept;
std::string_view name_of(operation_kind) noexcept;
element_kind element_named(std::string_view);
operation_kind operation_named(std::string_view);

/// Buffers of one shape. Item i of rank r in iteration k depends on r and (i + k) mod 8 only and is a small whole
/// number, so that every result is exact in any order of folding and can be written and checked at the speed of memory.
class workload {
 public:
  explicit workload(problem const&);

  problem const& shape() const noexcept { return shape_; }

  std::byte* input(rank_t r) const noexcept { return inputs_[r].get(); }
  std::byte* output(rank_t r) const noexcept { return outputs_[r].get(); }
  std::byte* shared_output() const noexcept { return shared_output_.get(); }

  /// Writes all that rank r brings to iteration k.
  void rewrite(rank_t r, std::size_t k) const noexcept;

  /// Reads all that rank r has of iteration k; returns how many items are wrong.
  std::size_t wrong(rank_t r, std::byte const* result, std::size_t k) const noexcept;

 private:
  struct free_aligned {
    void operator()(std::byte* p) const noexcept;
  };
  using buffer = std::unique_ptr<std::byte, free_aligned>;
  using filler = void (*)(std::byte* to, std::byte const* pattern, std::size_t count);
  using checker = void (*)(std::byte const* from, std::byte const* pattern, std::size_t count, std::size_t* wrong);

  buffer allocate() const;
  std::byte const* pattern(std::size_t row, std::size_t k) const noexcept;
  std::size_t wrong_items(std::byte const* from, items which, std::size_t row, std::size_t k) const noexcept;

  problem shape_;
  std::vector<buffer> inputs_, outputs_;
  buffer shared_output_;
  std::vector<std::byte> patterns_;  ///< [rank, then the result of ranks 0 to r][two periods of 8 items]
  filler fill_;
  checker check_;
};

}  // namespace coset::bench
