// SPDX-License-Identifier: Apache-2.0
// A view of two dimensions as std::mdspan with its first index running fastest.
#pragma once

#include "updates/loops.hpp"

namespace coset::updates_test {

class columns {
 public:
  using element_type = float;
  struct extents_type {
    std::array<std::size_t, 2> of;
    std::size_t extent(std::size_t dimension) const { return of[dimension]; }
    bool operator==(extents_type const&) const = default;
  };
  struct mapping_type {
    std::size_t rows, number;
    extents_type extents() const { return {{rows, number}}; }
    std::size_t operator()(std::size_t i, std::size_t j) const { return j * rows + i; }
    std::size_t required_span_size() const { return rows * number; }
    static bool is_exhaustive() { return true; }
    bool operator==(mapping_type const&) const = default;
  };

  columns(float* data, mapping_type of) : at_(data), mapping_(of) {}
  float* data_handle() const { return at_; }
  mapping_type const& mapping() const { return mapping_; }
  float& operator()(std::size_t i, std::size_t j) const { return at_[mapping_(i, j)]; }

 private:
  float* at_;
  mapping_type mapping_;
};

}  // namespace coset::updates_test
