// SPDX-License-Identifier: Apache-2.0
// What is around each program of wrong_uses.txt: it is compiled once for all of them.
#include <omp.h>

#include <array>
#include <chrono>
#include <complex>
#include <deque>
#include <list>
#include <ranges>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "coset/coset.hpp"
#include "coset/omp.hpp"
#include "coset/tbb.hpp"

struct force {
  double x, y, z;
};
inline force operator+(force a, force b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }

struct without_plus {
  double x;
};

struct alignas(128) wide {
  char c;
};

/// As Eigen's vectors: in one piece, but their iterators do not say so.
class other_librarys_vector {
 public:
  class iterator : public std::vector<double>::iterator {
   public:
    using iterator_concept = std::random_access_iterator_tag;
    using std::vector<double>::iterator::iterator;
    iterator(std::vector<double>::iterator at) : std::vector<double>::iterator(at) {}
    iterator& operator++() { return std::vector<double>::iterator::operator++(), *this; }
    iterator operator++(int) { return std::vector<double>::iterator::operator++(0); }
  };
  iterator begin() const { return of_.begin(); }
  iterator end() const { return of_.end(); }
  double* data() const { return of_.data(); }
  std::size_t size() const { return of_.size(); }

 private:
  mutable std::vector<double> of_ = std::vector<double>(3);
};

/// As std::views::single: its element lies in itself.
class view_of_its_own : public std::ranges::view_base {
 public:
  double* begin() const { return &one_; }
  double* end() const { return &one_ + 1; }

 private:
  mutable double one_ = 1;
};
