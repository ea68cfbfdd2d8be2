// SPDX-License-Identifier: Apache-2.0
// One collective of MPI's after another while other processes want the same cores: as libcoset_preload.so carries them out and as
// the MPI beneath it does, by turns in one process, each call timed by itself. A plain MPI program: without the library
// both are MPI's, and all ratios should be 1. Processes have to be bound to a core each.
//
// usage: contended [--verbs allreduce,…] [--sizes 8,…] [--forms blocking,nonblocking] [--competitors 0,1,2] [--rounds N]
//
// Writes a line for each verb, form, size and number of competitors, separated by tabs: verb, form, bytes, competitors of each
// core, and then of MPI and of the layer each the median, the 99th percentile and the mean of a call's microseconds, and
// how many calls they are of. Of each figure it is the slowest process's.
#include <mpi.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>
#include <vector>

#include "both_sides.hpp"

using namespace benched;

namespace {

using clock_of_calls = std::chrono::steady_clock;
using microseconds = std::chrono::duration<double, std::micro>;

/// Several of the system's slices of time, so that a block sees its processes run together and apart.
constexpr microseconds wanted = std::chrono::milliseconds(40);

/// Processes that do nothing but run where this one runs. They are forked before MPI begins, which may not like it later, and
/// stand still until they are wanted. Being this process's children they count with it where the system divides time
/// among groups.
class competitors {
 public:
  explicit competitors(int most) {
    pid_t const parent = getpid();
    for (int k = 0; k < most; ++k) {
      pid_t const made = fork();
      if (made == 0) run_for(parent);
      if (made < 0) {
        std::perror("contended: fork");
        std::exit(1);
      }
      all_.push_back(made);
    }
    only(0);
  }
  ~competitors() {
    for (pid_t const each : all_) kill(each, SIGKILL);
    for (pid_t const each : all_) waitpid(each, nullptr, 0);
  }
  competitors(competitors const&) = delete;
  competitors& operator=(competitors const&) = delete;

  void only(std::size_t many) const {
    for (std::size_t k = 0; k < all_.size(); ++k) kill(all_[k], k < many ? SIGCONT : SIGSTOP);
  }

 private:
  [[noreturn]] static void run_for(pid_t parent) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(0);  // it had ended before
    for (unsigned const volatile turn = 0;;) static_cast<void>(turn);
  }

  std::vector<pid_t> all_;
};

struct figures {
  std::array<double, 3> of = {};  ///< median, 99th percentile, mean
  static figures from(std::vector<float>& times) {
    auto const at = [&](double part) {
      auto const place = times.begin() + static_cast<std::ptrdiff_t>(part * static_cast<double>(times.size() - 1));
      std::nth_element(times.begin(), place, times.end());
      return static_cast<double>(*place);
    };
    double sum = 0;
    for (float const x : times) sum += static_cast<double>(x);
    return {{at(0.5), at(0.99), sum / static_cast<double>(times.size())}};
  }
};

/// What one call is: begun and waited for, or both in one.
struct timed_call {
  measured_verb const& what;
  bool blocks;
  void operator()(functions const& by, arrays& a) const {
    if (blocks) return what.once(by, a);
    MPI_Request request;
    what.start(by, a, &request);
    by.wait(&request, MPI_STATUS_IGNORE);
  }
};

/// Where processes say when to begin and when to end, by memory that they share: by either side's functions they would wait as that
/// side does, and so come to the next call together or apart.
class conductor {
 public:
  conductor() {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks_);
    MPI_Aint const bytes = rank_ == 0 ? sizeof(podium) : 0;
    void* own = nullptr;
    MPI_Win_allocate_shared(bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &own, &window_);
    MPI_Aint size;
    int unit;
    MPI_Win_shared_query(window_, 0, &size, &unit, &own);
    if (rank_ == 0) new (own) podium;
    at_ = static_cast<podium*>(own);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  ~conductor() { MPI_Win_free(&window_); }
  conductor(conductor const&) = delete;
  conductor& operator=(conductor const&) = delete;

  void meet() {
    meetings_ += ranks_;
    at_->here.fetch_add(1);
    while (at_->here.load() < meetings_) {
    }
  }
  /// What process 0 says, which waits for nobody.
  int hear(int said_by_first) {
    std::uint64_t const now = ++said_;
    std::size_t const place = now % at_->said.size();
    if (rank_ == 0) at_->said[place].store(now << 32 | static_cast<std::uint32_t>(said_by_first));
    for (;;) {
      std::uint64_t const heard = at_->said[place].load();
      if (heard >> 32 == now) return static_cast<int>(heard & 0xffffffff);
    }
  }

 private:
  /// In a block process 0 speaks less often than there are places.
  struct podium {
    std::atomic<long> here = 0;
    std::array<std::atomic<std::uint64_t>, 4096> said = {};
  };
  MPI_Win window_;
  podium* at_;
  int rank_, ranks_;
  long meetings_ = 0;
  std::uint64_t said_ = 0;
};

/// Calls for about the wanted time. What a call takes may change by a factor of ten thousand from one moment to the next. So
/// process 0 says again and again how many more there are, and never for longer than it has gone on already.
void play(timed_call const& one, functions const& by, conductor& baton, arrays& a, std::vector<float>& times) {
  baton.meet();
  auto const begin = clock_of_calls::now();
  constexpr int first = 4, most = 1 << 18;
  for (int more = first; more > 0;) {
    auto const part_begin = clock_of_calls::now();
    auto before = part_begin;
    for (int i = 0; i < more; ++i) {
      one(by, a);
      auto const after = clock_of_calls::now();
      times.push_back(static_cast<float>(microseconds(after - before).count()));
      before = after;
    }
    double const left = (wanted - (before - begin)).count(), took = microseconds(before - part_begin).count();
    more = baton.hear(left <= 0 ? 0 : static_cast<int>(std::min(more * std::min(2.0, left / took) + 1, double(most))));
  }
}

void compare(timed_call const& one, std::size_t bytes, std::size_t beside, int rounds, functions const& mpi,
             conductor& baton) {
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  functions const layer;
  arrays a = arrays_for(one.what, bytes);
  std::array<std::vector<float>, 2> times;  // of MPI, and of the layer
  auto const turn = [&](bool of_layer) { play(one, of_layer ? layer : mpi, baton, a, times[of_layer ? 1 : 0]); };
  // What is set up by first calls is not what is measured.
  for (bool const of_layer : {false, true}) turn(of_layer);
  for (auto& each : times) {
    each.clear();
    each.reserve(std::size_t{1} << 22);
  }
  // Where calls take whole slices of time, blocks take longer than wanted: then there are fewer.
  auto const begin = clock_of_calls::now();
  auto const longest = 3 * rounds * wanted;
  for (int round = 0; round < rounds && baton.hear(clock_of_calls::now() - begin < longest) != 0; ++round) {
    for (bool const of_layer : {round % 2 != 0, round % 2 == 0}) turn(of_layer);
  }
  std::array<figures, 2> const own = {figures::from(times[0]), figures::from(times[1])};
  std::array<figures, 2> slowest;
  mpi.allreduce(&own, &slowest, 6, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  if (rank != 0) return;
  std::printf("%s\t%s\t%zu\t%zu", one.what.name, one.blocks ? "blocking" : "nonblocking", bytes, beside);
  for (std::size_t side = 0; side < 2; ++side) {
    for (double const figure : slowest[side].of) std::printf("\t%.3f", figure);
    std::printf("\t%zu", times[side].size());
  }
  std::printf("\n");
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  std::string chosen_verbs = "allreduce,reduce,reduce_scatter,allgather,gather,scatter,alltoall,broadcast,barrier,scan";
  std::string sizes = "8,65536", forms = "blocking,nonblocking", crowds = "0,1,2";
  int rounds = 10;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::strcmp(argv[i], "--verbs") == 0) chosen_verbs = argv[i + 1];
    if (std::strcmp(argv[i], "--sizes") == 0) sizes = argv[i + 1];
    if (std::strcmp(argv[i], "--forms") == 0) forms = argv[i + 1];
    if (std::strcmp(argv[i], "--competitors") == 0) crowds = argv[i + 1];
    if (std::strcmp(argv[i], "--rounds") == 0) rounds = std::atoi(argv[i + 1]);
  }
  int most = 0;
  for (std::string const& crowd : words_of(crowds)) most = std::max(most, std::stoi(crowd));
  competitors const others(most);
  MPI_Init(&argc, &argv);
  functions const mpi = of_mpi();
  MPI_Barrier(MPI_COMM_WORLD);  // the layer's nonblocking calls need what its first blocking one makes
  {
    conductor baton;
    for (std::string const& crowd : words_of(crowds)) {
      baton.meet();
      others.only(std::stoul(crowd));
      for (measured_verb const& what : verbs) {
        if (!is_among(words_of(chosen_verbs), what.name)) continue;
        for (std::string const& form : words_of(forms)) {
          for (std::string const& size : words_of(std::strcmp(what.name, "barrier") == 0 ? "4" : sizes))
            compare({what, form == "blocking"}, std::stoul(size), std::stoul(crowd), rounds, mpi, baton);
        }
      }
    }
    others.only(0);
  }
  MPI_Finalize();
}
