// SPDX-License-Identifier: Apache-2.0
// Gathers, scatters and exchanges by teams: long ones in flight, counts that only the root knows, elements with gaps.
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <functional>
#include <numeric>

#include "world.hpp"

namespace coset::interpose_test {
namespace {

using PiecesInterposed = all_ranks_heard;

using numbers = std::vector<int>;

std::size_t of(int count) { return static_cast<std::size_t>(count); }

/// What rank `from` has for rank `to`.
int value(int from, int to, int at) { return 1'000'000 * (from + 1) + 10'000 * to + at % 9973; }

numbers piece(int from, int to, int count) {
  numbers made(of(count));
  for (int i = 0; i < count; ++i) made[of(i)] = value(from, to, i);
  return made;
}

numbers joined(std::function<numbers(int rank)> const& piece_of) {
  numbers all;
  for (int r = 0; r < ranks(); ++r) {
    numbers const one = piece_of(r);
    all.insert(all.end(), one.begin(), one.end());
  }
  return all;
}

struct layout {
  numbers counts, begins;
  explicit layout(std::function<int(int rank)> const& count_of) {
    for (int r = 0; r < ranks(); ++r) counts.push_back(count_of(r));
    std::exclusive_scan(counts.begin(), counts.end(), std::back_inserter(begins), 0);
  }
  int total() const { return begins.back() + counts.back(); }
  int own() const { return counts[of(rank())]; }
};

constexpr int long_piece = 400'000;  // far more than processes share

/// All five under way at once, by all processes.
class long_exchanges {
 public:
  long_exchanges(MPI_Comm on, int root)
      : root_(root),
        varied_([](int r) { return r % 2 == 0 ? long_piece / 3 + r : 5 - r; }),
        own_(piece(rank(), root, long_piece)) {
    for (auto* each : {&gathered_, &swapped_}) each->resize(of(long_piece * ranks()));
    varied_gathered_.resize(of(varied_.total()));
    for (auto* each : {&piece_, &varied_piece_}) each->resize(of(long_piece));
    to_all_ = joined([](int to) { return piece(rank(), to, long_piece); });
    varied_to_all_ = joined([&](int to) { return piece(rank(), to, varied_.counts[of(to)]); });
    bool const is_root = rank() == root;
    int const* const counts = is_root ? varied_.counts.data() : nullptr;
    int const* const begins = is_root ? varied_.begins.data() : nullptr;
    MPI_Igather(own_.data(), long_piece, MPI_INT, gathered_.data(), long_piece, MPI_INT, root, on, &requests[0]);
    MPI_Igatherv(own_.data(), varied_.own(), MPI_INT, varied_gathered_.data(), counts, begins, MPI_INT, root, on,
                 &requests[1]);
    MPI_Iscatter(to_all_.data(), long_piece, MPI_INT, piece_.data(), long_piece, MPI_INT, root, on, &requests[2]);
    MPI_Iscatterv(varied_to_all_.data(), counts, begins, MPI_INT, varied_piece_.data(), varied_.own(), MPI_INT, root,
                  on, &requests[3]);
    MPI_Ialltoall(to_all_.data(), long_piece, MPI_INT, swapped_.data(), long_piece, MPI_INT, on, &requests[4]);
  }

  void expect_right() const {
    if (rank() == root_) {
      EXPECT_TRUE(gathered_ == joined([&](int from) { return piece(from, root_, long_piece); }));
      EXPECT_TRUE(varied_gathered_ == joined([&](int from) { return piece(from, root_, varied_.counts[of(from)]); }));
    }
    EXPECT_TRUE(piece_ == piece(root_, rank(), long_piece));
    EXPECT_TRUE(numbers(varied_piece_.begin(), varied_piece_.begin() + varied_.own()) ==
                piece(root_, rank(), varied_.own()));
    EXPECT_TRUE(swapped_ == joined([](int from) { return piece(from, rank(), long_piece); }));
  }

  std::array<MPI_Request, 5> requests;

 private:
  int root_;
  layout varied_;
  numbers own_, to_all_, varied_to_all_, gathered_, varied_gathered_, piece_, varied_piece_, swapped_;
};

/// Before MPI_Init, as the library looks for it there.
[[maybe_unused]] bool const nothing_is_left_to_mpi = setenv("COSET_INTERPOSE_REQUIRE", "1", 1) == 0;

}  // namespace

/// Others begin only once rank 0 has begun all: to begin one is not to wait.
TEST_F(PiecesInterposed, LongOnesBeginWithoutTheOthers) {
  own_world on;
  int token = 0;
  if (rank() > 0) MPI_Recv(&token, 1, MPI_INT, 0, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  long_exchanges all(on, ranks() - 1);
  for (int to = 1; rank() == 0 && to < ranks(); ++to) MPI_Send(&token, 1, MPI_INT, to, 4, MPI_COMM_WORLD);
  MPI_Waitall(5, all.requests.data(), MPI_STATUSES_IGNORE);
  all.expect_right();
}

/// A call whose root has counts to tell is two operations of the team: those begun later come after both.
TEST_F(PiecesInterposed, CountsThatAreToldKeepTheOrderOfCalls) {
  own_world on;
  constexpr int turns = 40;
  layout const varied([](int r) { return 3 + 2 * r; });
  std::vector<numbers> gathered(turns, numbers(of(varied.total())));
  std::vector<sum_under_way> sums;
  std::vector<MPI_Request> requests;
  numbers const own = piece(rank(), 0, varied.own());
  for (int turn = 0; turn < turns; ++turn) {
    int const root = turn % ranks();
    MPI_Igatherv(own.data(), varied.own(), MPI_INT, gathered[of(turn)].data(), varied.counts.data(),
                 varied.begins.data(), MPI_INT, root, on, &requests.emplace_back());
    sums.emplace_back(on, turn);
    requests.push_back(sums.back().request);
    if (turn % 7 != 0) continue;
    numbers blocking(of(varied.total()));
    MPI_Gatherv(own.data(), varied.own(), MPI_INT, blocking.data(), varied.counts.data(), varied.begins.data(), MPI_INT,
                root, on);
    if (rank() == root) {
      EXPECT_EQ(blocking, joined([&](int from) { return piece(from, 0, varied.counts[of(from)]); }));
    }
  }
  MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
  for (auto const& sum : sums) sum.expect_right();
  for (int turn = 0; turn < turns; ++turn) {
    if (rank() == turn % ranks()) {
      EXPECT_EQ(gathered[of(turn)], joined([&](int from) { return piece(from, 0, varied.counts[of(from)]); }));
    }
  }
}

TEST_F(PiecesInterposed, NothingAtAllIsGathered) {
  own_world on;
  numbers const none(of(ranks()), 0);
  int in = 1, out = 2;
  EXPECT_EQ(MPI_Gatherv(&in, 0, MPI_INT, &out, none.data(), none.data(), MPI_INT, 0, on), MPI_SUCCESS);
  EXPECT_EQ(MPI_Scatterv(&in, none.data(), none.data(), MPI_INT, &out, 0, MPI_INT, 0, on), MPI_SUCCESS);
  MPI_Request request;
  MPI_Igatherv(&in, 0, MPI_INT, &out, none.data(), none.data(), MPI_INT, 0, on, &request);
  EXPECT_EQ(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
  EXPECT_EQ(out, 2);
}

/// Rank 1 has one element more than the root expects of it. All hear so, in this call or the next, and nothing is written past
/// its place.
TEST_F(PiecesInterposed, OtherCountsThanTheRootsAreAnErrorOfAll) {
  if (ranks() == 1) GTEST_SKIP() << "needs another rank";
  own_world on;
  MPI_Comm_set_errhandler(on, MPI_ERRORS_RETURN);
  said_by_all("");  // none is in a call whose errors are fatal
  layout const varied([](int r) { return 3 + r; });
  int const sent = varied.own() + (rank() == 1 ? 1 : 0);
  numbers const own = piece(rank(), 0, sent);
  numbers out(of(varied.total()) + 1, -1);
  int code =
      MPI_Gatherv(own.data(), sent, MPI_INT, out.data(), varied.counts.data(), varied.begins.data(), MPI_INT, 0, on);
  if (code == MPI_SUCCESS) code = MPI_Barrier(on);
  std::array<char, MPI_MAX_ERROR_STRING> words{};
  int length = 0;
  MPI_Error_string(code, words.data(), &length);
  EXPECT_NE(code, MPI_SUCCESS);
  EXPECT_NE(std::string(words.data()).find(rank() == 0 ? "MPI_Gatherv" : "coset"), std::string::npos) << words.data();
  EXPECT_EQ(out.back(), -1);
}

/// The same of long ones in flight, which go in parts: all have as many of them.
TEST_F(PiecesInterposed, OtherCountsOfLongPiecesInFlightAreAnErrorOfAll) {
  if (ranks() == 1) GTEST_SKIP() << "needs another rank";
  for (int const sent_by_one : {10, long_piece - 1, long_piece + 1}) {
    own_world on;
    MPI_Comm_set_errhandler(on, MPI_ERRORS_RETURN);
    said_by_all("");  // none is in a call whose errors are fatal
    layout const varied([](int) { return long_piece; });
    int const sent = rank() == 1 ? sent_by_one : long_piece;
    numbers const own = piece(rank(), 0, sent);
    numbers out(of(varied.total()));
    MPI_Request request;
    int code = MPI_Igatherv(own.data(), sent, MPI_INT, out.data(), varied.counts.data(), varied.begins.data(), MPI_INT,
                            0, on, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (code == MPI_SUCCESS) code = MPI_Barrier(on);
    EXPECT_NE(code, MPI_SUCCESS) << sent_by_one;
  }
}

/// Every other number leaves, and pieces arrive one element apart.
TEST_F(PiecesInterposed, ElementsWithGapsArePackedAndUnpacked) {
  own_world on;
  constexpr int count = 7;
  MPI_Datatype sparse, apart;
  MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &sparse);
  MPI_Type_create_resized(MPI_INT, 0, 3 * sizeof(int), &apart);
  MPI_Type_commit(&sparse);
  MPI_Type_commit(&apart);
  auto const spread = [](numbers const& dense, int stride) {
    numbers made(dense.size() * of(stride), -5);
    for (std::size_t i = 0; i < dense.size(); ++i) made[i * of(stride)] = dense[i];
    return made;
  };
  int const root = ranks() - 1;
  numbers out(of(3 * count * ranks()), -5);
  numbers const own = spread(piece(rank(), root, count), 2);
  MPI_Gather(own.data(), count, sparse, out.data(), count, apart, root, on);
  if (rank() == root) {
    EXPECT_EQ(out, spread(joined([&](int from) { return piece(from, root, count); }), 3));
  }
  numbers const to_all = spread(joined([](int to) { return piece(rank(), to, count); }), 2);
  numbers got(of(3 * count), -5);
  MPI_Scatter(to_all.data(), count, sparse, got.data(), count, apart, root, on);
  EXPECT_EQ(got, spread(piece(root, rank(), count), 3));
  std::ranges::fill(out, -5);
  MPI_Request request;
  MPI_Ialltoall(to_all.data(), count, sparse, out.data(), count, apart, on, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  EXPECT_EQ(out, spread(joined([](int from) { return piece(from, rank(), count); }), 3));
  MPI_Type_free(&sparse);
  MPI_Type_free(&apart);
}

/// What the root scatters in place may be in memory that nobody may write.
TEST_F(PiecesInterposed, TheRootsArrayOfAScatterInPlaceIsOnlyRead) {
  own_world on;
  for (int const count : {10, long_piece}) {
    numbers const all = joined([&](int to) { return piece(0, to, count); });
    std::size_t const bytes = all.size() * sizeof(int);
    void* const kept = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    std::ranges::copy(all, static_cast<int*>(kept));
    mprotect(kept, bytes, PROT_READ);
    numbers got(of(count));
    void* const out = rank() == 0 ? MPI_IN_PLACE : got.data();
    MPI_Scatter(kept, count, MPI_INT, out, count, MPI_INT, 0, on);
    if (rank() != 0) {
      EXPECT_TRUE(got == piece(0, rank(), count));
    }
    std::ranges::fill(got, 0);
    MPI_Request request;
    MPI_Iscatter(kept, count, MPI_INT, out, count, MPI_INT, 0, on, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (rank() != 0) {
      EXPECT_TRUE(got == piece(0, rank(), count));
    }
    munmap(kept, bytes);
  }
}

}  // namespace coset::interpose_test
