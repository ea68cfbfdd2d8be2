// SPDX-License-Identifier: Apache-2.0
// Datatypes and operations that programs make.
#include <algorithm>
#include <array>
#include <cstring>

#include "world.hpp"

namespace coset::interpose_test {
namespace {

using DatatypesInterposed = all_ranks_heard;

class made_type {
 public:
  explicit made_type(MPI_Datatype made) : type_(made) { MPI_Type_commit(&type_); }
  ~made_type() { MPI_Type_free(&type_); }
  made_type(made_type const&) = delete;
  made_type& operator=(made_type const&) = delete;
  operator MPI_Datatype() const { return type_; }  // NOLINT: stands for it

 private:
  MPI_Datatype type_;
};

/// Every other of six numbers.
MPI_Datatype with_gaps() {
  MPI_Datatype made;
  MPI_Type_vector(3, 1, 2, MPI_INT, &made);
  return made;
}

/// The same, with so many bytes from one element to the next.
MPI_Datatype with_gaps_and_extent(MPI_Aint bytes) {
  made_type const gaps(with_gaps());
  MPI_Datatype made;
  MPI_Type_create_resized(gaps, 0, bytes, &made);
  return made;
}

void add_threes(void* in, void* inout, int* count, MPI_Datatype* type) {
  MPI_Aint lower, extent;
  MPI_Type_get_extent(*type, &lower, &extent);
  for (int i = 0; i < *count; ++i) {
    for (int k = 0; k < 3; ++k)
      reinterpret_cast<int*>(static_cast<char*>(inout) + i * extent)[2 * k] +=
          reinterpret_cast<int*>(static_cast<char*>(in) + i * extent)[2 * k];
  }
}

using matrix = std::array<long, 4>;

/// Products of 2 × 2 matrices modulo a prime: they do not commute.
void multiply(void* in, void* inout, int* count, MPI_Datatype*) {
  constexpr long prime = 10007;
  for (int i = 0; i < *count; ++i) {
    matrix& b = static_cast<matrix*>(inout)[i];
    matrix const& a = static_cast<matrix*>(in)[i];
    b = {(a[0] * b[0] + a[1] * b[2]) % prime, (a[0] * b[1] + a[1] * b[3]) % prime, (a[2] * b[0] + a[3] * b[2]) % prime,
         (a[2] * b[1] + a[3] * b[3]) % prime};
  }
}

matrix matrix_of(int rank, int i) { return {rank + 1, i + 2, rank * i + 1, 3}; }

std::vector<matrix> product(int ranks, int count) {
  std::vector<matrix> all;
  for (int i = 0; i < count; ++i) {
    all.push_back(matrix_of(0, i));
    for (int r = 1; r < ranks; ++r) {
      matrix next = matrix_of(r, i);
      int one = 1;
      multiply(&all.back(), &next, &one, nullptr);
      all.back() = next;
    }
  }
  return all;
}

class made_operation {
 public:
  made_operation(MPI_User_function* by, bool commutes) { MPI_Op_create(by, commutes, &op_); }
  ~made_operation() { MPI_Op_free(&op_); }
  made_operation(made_operation const&) = delete;
  made_operation& operator=(made_operation const&) = delete;
  operator MPI_Op() const { return op_; }  // NOLINT: stands for it

 private:
  MPI_Op op_ = MPI_OP_NULL;
};

void expect_ordered_products(MPI_Comm on) {
  constexpr int count = 40;
  made_type const four([] {
    MPI_Datatype made;
    MPI_Type_contiguous(4, MPI_LONG, &made);
    return made;
  }());
  made_operation const by(multiply, false);
  int const me = rank_in(on), all = ranks_of(on);
  std::vector<matrix> in, out(count), scanned(count), reduced(count), before(count), piece(count);
  for (int i = 0; i < count; ++i) in.push_back(matrix_of(me, i));
  MPI_Allreduce(in.data(), out.data(), count, four, by, on);
  EXPECT_EQ(out, product(all, count));
  MPI_Scan(in.data(), scanned.data(), count, four, by, on);
  EXPECT_EQ(scanned, product(me + 1, count));
  MPI_Exscan(in.data(), before.data(), count, four, by, on);
  if (me > 0) {
    EXPECT_EQ(before, product(me, count));
  }
  MPI_Reduce(in.data(), reduced.data(), count, four, by, all - 1, on);
  if (me == all - 1) {
    EXPECT_EQ(reduced, product(all, count));
  }
  std::vector<matrix> pieces;
  for (int i = 0; i < count * all; ++i) pieces.push_back(matrix_of(me, i));
  MPI_Reduce_scatter_block(pieces.data(), piece.data(), count, four, by, on);
  auto const whole = product(all, count * all);
  EXPECT_TRUE(std::equal(piece.begin(), piece.end(), whole.begin() + me * count));
  MPI_Allreduce(MPI_IN_PLACE, in.data(), count, four, by, on);
  EXPECT_EQ(in, product(all, count));
}

}  // namespace

TEST_F(DatatypesInterposed, OperationsThatDoNotCommuteKeepTheOrderOfRanks) {
  own_world on;
  expect_ordered_products(on);
}

TEST_F(DatatypesInterposed, OperationsThatDoNotCommuteKeepTheOrderOfACommunicatorThatMixesHosts) {
  MPI_Comm mixed;
  MPI_Comm_split(MPI_COMM_WORLD, 0, rank() % 2 * ranks() + rank(), &mixed);
  make_team_of(mixed);
  expect_ordered_products(mixed);
  MPI_Comm_free(&mixed);
}

TEST_F(DatatypesInterposed, GapsInArraysStayAsTheyAre) {
  own_world on;
  made_type const gaps(with_gaps_and_extent(6 * sizeof(int)));
  made_operation const by(add_threes, true);
  constexpr int count = 50;
  std::vector<int> in(6 * count, rank() + 1), out(6 * count, -7);
  MPI_Allreduce(in.data(), out.data(), count, gaps, by, on);
  for (std::size_t i = 0; i < out.size(); ++i) EXPECT_EQ(out[i], i % 2 == 0 ? ranks() * (ranks() + 1) / 2 : -7) << i;
  std::vector<int> data(6 * count, rank() == 0 ? 5 : -7);
  MPI_Bcast(data.data(), count, gaps, 0, on);
  for (std::size_t i = 0; i < data.size(); ++i) EXPECT_EQ(data[i], i % 2 == 0 || rank() == 0 ? 5 : -7) << i;
}

TEST_F(DatatypesInterposed, ElementsMayInterleave) {
  own_world on;
  made_type const gaps(with_gaps_and_extent(sizeof(int)));  // the second fills the first one's gaps
  std::vector<int> data(6, rank() == 0 ? 0 : -1);
  if (rank() == 0) std::iota(data.begin(), data.end(), 10);
  MPI_Bcast(data.data(), 2, gaps, 0, on);
  for (int i = 0; i < 6; ++i) EXPECT_EQ(data[static_cast<std::size_t>(i)], 10 + i);
}

TEST_F(DatatypesInterposed, RanksMayDescribeTheSameDataDifferently) {
  own_world on;
  made_type const gaps(with_gaps_and_extent(6 * sizeof(int)));
  std::vector<int> data(12, rank());
  bool const by_gaps = rank() % 2 == 0;
  MPI_Bcast(data.data(), by_gaps ? 2 : 6, by_gaps ? static_cast<MPI_Datatype>(gaps) : MPI_INT, 0, on);
  EXPECT_EQ(data[0], 0);
  EXPECT_EQ(data[by_gaps ? 10 : 5], 0);
  std::vector<int> const own(6, rank() + 1);
  std::vector<int> all(static_cast<std::size_t>(6 * ranks()), -1);
  MPI_Allgather(own.data(), 1, gaps, all.data(), 3, MPI_INT, on);
  for (int r = 0; r < ranks(); ++r) EXPECT_EQ(all[static_cast<std::size_t>(3 * r + 2)], r + 1);
}

TEST_F(DatatypesInterposed, AddressesMayBeAbsolute) {
  own_world on;
  int numbers[4] = {rank(), rank(), rank(), rank()};
  std::array<MPI_Aint, 2> at;
  MPI_Get_address(&numbers[0], &at[0]);
  MPI_Get_address(&numbers[2], &at[1]);
  std::array<int, 2> const lengths = {1, 1};
  made_type const here([&] {
    MPI_Datatype made;
    MPI_Type_create_hindexed(2, lengths.data(), at.data(), MPI_INT, &made);
    return made;
  }());
  MPI_Bcast(MPI_BOTTOM, 1, here, ranks() - 1, on);
  EXPECT_EQ(numbers[0], ranks() - 1);
  EXPECT_EQ(numbers[1], rank());
  EXPECT_EQ(numbers[2], ranks() - 1);
}

TEST_F(DatatypesInterposed, TypesWithoutDataAreNothing) {
  own_world on;
  made_type const nothing([] {
    MPI_Datatype made;
    MPI_Type_contiguous(0, MPI_INT, &made);
    return made;
  }());
  int untouched = 3;
  MPI_Bcast(&untouched, 5, nothing, 0, on);
  std::vector<int> all(static_cast<std::size_t>(ranks()), 4);
  MPI_Allgather(&untouched, 5, nothing, all.data(), 5, nothing, on);
  EXPECT_EQ(untouched, 3);
  EXPECT_EQ(all.back(), 4);
}

TEST_F(DatatypesInterposed, TypesLongerThanTwoGibibytesOfDataAreRowsOfOthers) {
  own_world on;
  made_type const row([] {
    MPI_Datatype made;
    MPI_Type_contiguous(1 << 25, MPI_BYTE, &made);
    return made;
  }());
  std::vector<char> data(1 << 25, static_cast<char>(rank()));
  MPI_Bcast(data.data(), 1, row, 0, on);
  EXPECT_EQ(data.back(), 0);
}

TEST_F(DatatypesInterposed, PersistentRequestsKeepTypesAndOperationsThatAreFreed) {
  own_world on;
  MPI_Datatype gaps = with_gaps_and_extent(6 * sizeof(int));
  MPI_Type_commit(&gaps);
  MPI_Op by;
  MPI_Op_create(add_threes, 1, &by);
  std::vector<int> in(12), out(12, -7);
  MPI_Request request;
  make_persistent({verb::allreduce, in.data(), out.data(), 2, {}, {}, gaps, by, 0, on}, &request);
  MPI_Type_free(&gaps);
  MPI_Op_free(&by);
  for (int turn = 1; turn < 4; ++turn) {
    for (int& each : in) each = turn;
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    EXPECT_EQ(out[10], turn * ranks());
    EXPECT_EQ(out[11], -7);
  }
  MPI_Request_free(&request);
}

TEST_F(DatatypesInterposed, ScansMayBeInPlaceOnSomeRanksOnly) {
  own_world on;
  int const own = rank() + 1;
  int sum = own;
  MPI_Scan(rank() % 2 == 0 ? MPI_IN_PLACE : &own, &sum, 1, MPI_INT, MPI_SUM, on);
  EXPECT_EQ(sum, (rank() + 1) * (rank() + 2) / 2);
  int before = own;
  MPI_Exscan(rank() % 2 == 0 ? MPI_IN_PLACE : &own, &before, 1, MPI_INT, MPI_SUM, on);
  EXPECT_EQ(before, rank() == 0 ? 1 : rank() * (rank() + 1) / 2);
}

TEST_F(DatatypesInterposed, LongPiecesAreNotWaitedForWhereTheyAreBegun) {
  own_world on;
  std::size_t const count = 1 << 18;
  std::vector<int> const in(count, rank());
  std::vector<int> all(count * static_cast<std::size_t>(ranks()), -1), sum(count);
  MPI_Request requests[2];
  int token = 0;
  // Nobody could begin if one of them waited in there.
  if (rank() > 0) MPI_Recv(&token, 1, MPI_INT, rank() - 1, 3, on, MPI_STATUS_IGNORE);
  MPI_Iallgather(in.data(), static_cast<int>(count), MPI_INT, all.data(), static_cast<int>(count), MPI_INT, on,
                 &requests[0]);
  std::vector<int> const pieces(all.size(), rank() + 1);
  MPI_Ireduce_scatter_block(pieces.data(), sum.data(), static_cast<int>(count), MPI_INT, MPI_SUM, on, &requests[1]);
  if (rank() + 1 < ranks()) MPI_Send(&token, 1, MPI_INT, rank() + 1, 3, on);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  for (int r = 0; r < ranks(); ++r) EXPECT_EQ(all[static_cast<std::size_t>(r + 1) * count - 1], r);
  EXPECT_EQ(sum.back(), ranks() * (ranks() + 1) / 2);
}

}  // namespace coset::interpose_test
