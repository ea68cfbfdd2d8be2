// SPDX-License-Identifier: Apache-2.0
// What these programs share: who they are, and one sum to look at.
#pragma once

#include <gtest/gtest.h>
#include <mpi.h>

#include <numeric>
#include <vector>

#include "forms.hpp"

namespace coset::interpose_test {

inline int rank_in(MPI_Comm on) {
  int rank;
  MPI_Comm_rank(on, &rank);
  return rank;
}

inline int ranks_of(MPI_Comm on) {
  int ranks;
  MPI_Comm_size(on, &ranks);
  return ranks;
}

inline int rank() { return rank_in(MPI_COMM_WORLD); }
inline int ranks() { return ranks_of(MPI_COMM_WORLD); }

/// One so long makes the team of any communicator, as it is worth one.
inline void make_team_of(MPI_Comm on) {
  static std::vector<int> zeros(1'250'000);
  MPI_Allreduce(MPI_IN_PLACE, zeros.data(), static_cast<int>(zeros.size()), MPI_INT, MPI_SUM, on);
}

/// A communicator of its own for each test, whose team is there already.
class own_world {
 public:
  own_world() {
    MPI_Comm_dup(MPI_COMM_WORLD, &on_);
    make_team_of(on_);
  }
  ~own_world() {
    if (on_ != MPI_COMM_NULL) MPI_Comm_free(&on_);
  }
  own_world(own_world const&) = delete;
  own_world& operator=(own_world const&) = delete;

  operator MPI_Comm() const { return on_; }  // NOLINT: stands for it
  MPI_Comm* operator&() { return &on_; }     // NOLINT: as MPI_Comm_free wants it

 private:
  MPI_Comm on_ = MPI_COMM_NULL;
};

/// A sum over all ranks, begun and looked at later.
class sum_under_way {
 public:
  explicit sum_under_way(MPI_Comm on, int salt = 0, int count = 10) : on_(on), salt_(salt) {
    in_.resize(static_cast<std::size_t>(count));
    std::iota(in_.begin(), in_.end(), rank_in(on) + salt);
    out_.resize(in_.size());
    MPI_Iallreduce(in_.data(), out_.data(), count, MPI_INT, MPI_SUM, on, &request);
  }
  sum_under_way(sum_under_way&&) = default;

  void expect_right() const {
    int const n = ranks_of(on_);
    for (std::size_t i = 0; i < out_.size(); ++i)
      EXPECT_EQ(out_[i], n * (static_cast<int>(i) + salt_) + n * (n - 1) / 2) << "element " << i;
  }

  MPI_Request request = MPI_REQUEST_NULL;

 private:
  MPI_Comm on_;
  int salt_;
  std::vector<int> in_, out_;
};

/// At the end of each test: what other ranks have found counts on rank 0, too.
class all_ranks_heard : public ::testing::Test {
 protected:
  void TearDown() override {
    std::string words;
    auto const* const result = ::testing::UnitTest::GetInstance()->current_test_info()->result();
    for (int i = 0; rank() != 0 && i < result->total_part_count(); ++i) {
      if (result->GetTestPartResult(i).failed()) words += std::string(result->GetTestPartResult(i).message()) + "; ";
    }
    EXPECT_EQ(said_by_all(words), "");
  }
};

}  // namespace coset::interpose_test
