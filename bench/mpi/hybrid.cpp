// SPDX-License-Identifier: Apache-2.0
// One order at a time, from process 0 to the first process of each host to all: whose burst, of what.
#include "command/measure/harness/hybrid.hpp"

#include <fmt/format.h>
#include <coset/coset.hpp>
#include <coset/mpi.hpp>

#include <optional>
#include <set>
#include <span>
#include <thread>

#include "bench/collectives/omp/openmp_region.hpp"
#include "bench/mpi/playing.hpp"
#include "command/measure/references/fold.hpp"
#include "command/measure/references/typed.hpp"
#include "numa/binding.hpp"

namespace coset::measure {
namespace {

enum class player : std::uint8_t { coset, omp_master, flat, nobody };

struct hybrid_order {
  player who = player::nobody;
  mpi_order what;
};

int rank_in(MPI_Comm of) {
  int rank = 0;
  MPI_Comm_rank(of, &rank);
  return rank;
}

int size_of(MPI_Comm of) {
  int size = 0;
  MPI_Comm_size(of, &size);
  return size;
}

/// The sum over a process's threads.
record summed(std::vector<record> const& threads) {
  record all = threads[0];
  for (std::size_t t = 1; t < threads.size(); ++t) {
    all.wrong += threads[t].wrong;
    for (std::size_t s = 0; s < all.nanoseconds.size(); ++s) all.nanoseconds[s] += threads[t].nanoseconds[s];
  }
  return all;
}

/// What only active processes have: threads of either kind, and the teams of all of them.
class crew_of_threads {
 public:
  crew_of_threads(MPI_Comm active, std::vector<unsigned> const& processors)
      : active_(active), threads_(options_for(processors)), all_(active, threads_), region_(processors) {}

  mpi::team const& all() const { return all_; }

  record with_coset(mpi_order const& order) {
    workload const work(order.shape);
    std::vector<record> made(all_.threads());
    visit_element(order.shape.element, [&]<class T>(T) {
      visit_operation<T>(order.shape.operation, [&](auto operation) {
        all_.run([&](member& me) {
          std::span const in(reinterpret_cast<T const*>(work.input(me.rank())), order.shape.count);
          std::span const out(reinterpret_cast<T*>(work.output(me.rank())), order.shape.count);
          made[me.rank() - all_.first()] = play(
              order, work, me.rank(), [&] { barrier(me); },
              [&] {
                allreduce(me, in, out, operation);
                return work.output(me.rank());
              });
        });
      });
    });
    return summed(made);
  }

  /// The threads reduce by slices into one array, the master reduces it over the processes, all read it there.
  record with_omp_master(mpi_order const& order) {
    workload const work(order.shape);
    fold_function const fold = fold_for(order.shape.element, order.shape.operation);
    std::vector<void const*> inputs;
    for (rank_t t = 0; t < all_.threads(); ++t) inputs.push_back(work.input(all_.first() + t));
    std::vector<record> made(all_.threads());
    region_.run([&](rank_t t) {
      slice const mine = slice_of(order.shape.count, all_.threads(), t);
      made[t] = play(
          order, work, all_.first() + t, [&] { meet(t, [&] { MPI_Barrier(active_); }); },
          [&]() -> std::byte const* {
            meet(t, [] {});
            fold(work.shared_output(), inputs.data(), all_.threads(), mine.begin, mine.end);
            meet(t, [&] {
              MPI_Allreduce(MPI_IN_PLACE, work.shared_output(), static_cast<int>(order.shape.count),
                            type_of(order.shape.element), operation_of(order.shape.operation), active_);
            });
            return work.shared_output();
          });
    });
    return summed(made);
  }

 private:
  static team_options options_for(std::vector<unsigned> const& processors) {
    auto const ranks = static_cast<rank_t>(processors.size());
    if (!numa::binding_wanted() || std::set(processors.begin(), processors.end()).size() < ranks)
      return {.ranks = ranks, .place = placement::unbound};
    return {.ranks = ranks, .processors = processors};
  }

  /// A barrier of the region's threads, then the master's part, and another one if there is such a part.
  template <class Master>
  static void meet(rank_t thread, Master&& master) {
#pragma omp barrier
    if constexpr (!std::is_empty_v<Master>) {
      if (thread == 0) master();
#pragma omp barrier
    }
  }

  MPI_Comm active_;
  team threads_;
  mpi::team all_;
  openmp_region region_;
};

}  // namespace

mpi_session::mpi_session() {
  int given = 0;
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &given);
}
mpi_session::~mpi_session() { MPI_Finalize(); }

int mpi_session::process() const { return rank_in(MPI_COMM_WORLD); }

rank_t mpi_session::processes_on_this_host() const {
  MPI_Comm host;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
  auto const size = static_cast<rank_t>(size_of(host));
  MPI_Comm_free(&host);
  return size;
}

struct hybrid_stage::state {
  rank_t threads;
  MPI_Comm host = MPI_COMM_NULL, leaders = MPI_COMM_NULL, active = MPI_COMM_NULL;
  desk<hybrid_order>* orders = nullptr;
  std::uint32_t last = 0;
  int hosts = 1;
  std::optional<crew_of_threads> crew;

  explicit state(rank_t of_threads, std::vector<unsigned> const& processors) : threads(of_threads) {
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
    int const here = rank_in(host);
    int fits = size_of(host) % static_cast<int>(threads) == 0 ? 1 : 0;
    MPI_Allreduce(MPI_IN_PLACE, &fits, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (fits == 0)
      throw argument_error(fmt::format("{} threads: each host's processes have to be a multiple of that", threads));
    bool const is_active = here % static_cast<int>(threads) == 0;
    MPI_Comm_split(MPI_COMM_WORLD, here == 0 ? 0 : MPI_UNDEFINED, 0, &leaders);
    MPI_Comm_split(MPI_COMM_WORLD, is_active ? 0 : MPI_UNDEFINED, 0, &active);
    if (leaders != MPI_COMM_NULL) hosts = size_of(leaders);
    MPI_Bcast(&hosts, 1, MPI_INT, 0, host);
    orders = shared_desk<hybrid_order>(host);
    if (is_active) {
      auto const first = processors.begin() + here;
      crew.emplace(active, std::vector<unsigned>(first, first + static_cast<std::ptrdiff_t>(threads)));
    }
    // Last: threads inherit it. In flat bursts this is the process's one thread.
    if (std::set(processors.begin(), processors.end()).size() == processors.size() && numa::binding_wanted())
      numa::bind_this_thread(processors[static_cast<std::size_t>(here)]);
  }

  /// Process 0's order, passed on to this host's processes if there are others asleep on its desk.
  hybrid_order passed_on(hybrid_order order) {
    if (leaders != MPI_COMM_NULL) {
      MPI_Request under_way;
      MPI_Ibcast(&order, sizeof order, MPI_BYTE, 0, leaders, &under_way);
      for (int done = 0; done == 0;) {
        MPI_Test(&under_way, &done, MPI_STATUS_IGNORE);
        if (done == 0) std::this_thread::sleep_for(std::chrono::microseconds(20));
      }
      orders->announce(order);
      return order;
    }
    return orders->taken_after(last++);
  }

  /// This process's part of a burst; the result of all of them at process 0.
  record perform(hybrid_order const& order) {
    rank_t const ranks = order.what.shape.ranks;
    if (order.who == player::flat) {
      workload const work(order.what.shape);
      auto const rank = static_cast<rank_t>(rank_in(MPI_COMM_WORLD));
      auto const mine = play(
          order.what, work, rank, [] { MPI_Barrier(MPI_COMM_WORLD); },
          [&] {
            MPI_Allreduce(work.input(rank), work.output(rank), static_cast<int>(order.what.shape.count),
                          type_of(order.what.shape.element), operation_of(order.what.shape.operation), MPI_COMM_WORLD);
            return work.output(rank);
          });
      return gathered(MPI_COMM_WORLD, mine, ranks);
    }
    if (!crew) return {};
    return gathered(
        active, order.who == player::coset ? crew->with_coset(order.what) : crew->with_omp_master(order.what), ranks);
  }
};

namespace {

class hybrid_contestant final : public contestant {
 public:
  hybrid_contestant(std::string family, std::string name, std::function<record(mpi_order const&)> burst)
      : contestant(std::move(family), std::move(name)), burst_(std::move(burst)) {}

  std::string declines(problem const& p) const override { return p.what == verb::allreduce ? "" : "allreduce only"; }

  burst_result burst(workload const& work, burst_order const& order) override {
    record const all = burst_({work.shape(), order});
    return {.nanoseconds = all.nanoseconds, .wrong = all.wrong};
  }

 private:
  std::function<record(mpi_order const&)> burst_;
};

}  // namespace

hybrid_stage::hybrid_stage(rank_t threads, std::vector<unsigned> processors)
    : state_(std::make_unique<state>(threads, processors)) {}

hybrid_stage::~hybrid_stage() {
  if (rank_in(MPI_COMM_WORLD) == 0) state_->passed_on({});
  state_->crew.reset();
}

rank_t hybrid_stage::ranks() const noexcept { return static_cast<rank_t>(size_of(MPI_COMM_WORLD)); }
int hybrid_stage::hosts() const noexcept { return state_->hosts; }
std::string hybrid_stage::describe() const { return state_->crew ? state_->crew->all().describe() : ""; }

contestants hybrid_stage::players() {
  contestants all;
  auto const add = [&](player who, char const* family, char const* name) {
    all.push_back(std::make_unique<hybrid_contestant>(family, name, [stage = state_.get(), who](mpi_order const& what) {
      return stage->perform(stage->passed_on({who, what}));
    }));
  };
  add(player::coset, "coset", "coset");
  add(player::omp_master, "omp", "omp+master");
  add(player::flat, "mpi", "mpi flat");
  return all;
}

void hybrid_stage::serve() {
  for (;;) {
    auto const order = state_->passed_on({});
    if (order.who == player::nobody) return;
    state_->perform(order);
  }
}

}  // namespace coset::measure
