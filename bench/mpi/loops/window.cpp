// SPDX-License-Identifier: Apache-2.0
// What experts write on MPI's shared memory: each process shows its sum in a window, and each thread adds up one slice of
// what the processes of the host show. Between hosts only leaders send.
#include <thread>

#include "bench/mpi/loops/way.hpp"
#include "command/measure/machine/flag_barrier.hpp"

namespace coset::measure {
namespace {

/// What each process of the host has in the window. Flags hold the last cycle of which they are true.
struct shown {
  flag* folded = nullptr;                          ///< [thread]: this slice of the process's sum is there
  flag* summed = nullptr;                          ///< [thread]: its part of this slice of the host's sum is
  flag* taken = nullptr;                           ///< [thread]: it reads no more of it
  flag* over_hosts = nullptr;                      ///< the leader's: the host's result has become the total
  std::array<double*, 2> sums = {}, results = {};  ///< [version]; the host's result is at its leader
};

/// The window, in which each process has pages of its own.
class shared_window {
 public:
  shared_window(processes const& all, std::size_t length)
      : versions_(length <= std::size_t{1} << 15 ? 2 : 1), threads_(all.threads()), stride_((length + 15) / 16 * 16) {
    MPI_Comm_rank(all.host(), &rank_);
    allocate(all.host(), all.leads());
    MPI_Win_lock_all(MPI_MODE_NOCHECK, window_);  // what MPI calls an epoch of loads and stores
    int size = 0;
    MPI_Comm_size(all.host(), &size);
    for (int process = 0; process < size; ++process) parts_.push_back(part_of(process));
    clear(all.leads());
    MPI_Win_sync(window_);
    MPI_Barrier(all.host());
  }
  ~shared_window() {
    MPI_Win_unlock_all(window_);
    MPI_Win_free(&window_);
  }
  shared_window(shared_window const&) = delete;
  shared_window& operator=(shared_window const&) = delete;

  /// Two, for even and odd cycles, where arrays are short: nobody has to wait before writing then, as whoever shows
  /// something of one cycle has taken all that it wanted of the cycle before. Two long arrays would only fill caches.
  std::size_t versions() const { return versions_; }
  std::size_t size() const { return parts_.size(); }
  std::size_t own() const { return static_cast<std::size_t>(rank_); }
  shown const& mine() const { return parts_[own()]; }
  shown const& leader() const { return parts_.front(); }
  std::vector<shown> const& parts() const { return parts_; }

 private:
  std::size_t flags() const { return 3 * threads_ + 1; }

  void allocate(MPI_Comm host, bool leads) {
    std::size_t const arrays = (leads ? 2 : 1) * versions_;
    std::size_t const bytes = (flags() + 1) * sizeof(flag) + arrays * stride_ * sizeof(double);
    MPI_Info options;
    MPI_Info_create(&options);
    MPI_Info_set(options, "alloc_shared_noncontig", "true");
    void* mine = nullptr;
    MPI_Win_allocate_shared(static_cast<MPI_Aint>(bytes), 1, options, host, &mine, &window_);
    MPI_Info_free(&options);
  }

  shown part_of(int process) const {
    MPI_Aint bytes = 0;
    int unit = 0;
    void* begin = nullptr;
    MPI_Win_shared_query(window_, process, &bytes, &unit, &begin);
    auto room = static_cast<std::size_t>(bytes);
    auto* const first = static_cast<flag*>(std::align(sizeof(flag), flags() * sizeof(flag), begin, room));
    auto* const numbers = reinterpret_cast<double*>(first + flags());
    shown part{first, first + threads_, first + 2 * threads_, first + 3 * threads_};
    for (std::size_t version = 0; version < versions_; ++version) {
      part.sums[version] = numbers + version * stride_;
      part.results[version] = numbers + (versions_ + version) * stride_;
    }
    return part;
  }

  /// Pages are near who writes them first.
  void clear(bool leads) const {
    for (std::size_t k = 0; k < flags(); ++k) new (mine().folded + k) flag;
    for (std::size_t version = 0; version < versions_; ++version) {
      clear_range(mine().sums[version], {0, stride_});
      if (leads) clear_range(mine().results[version], {0, stride_});
    }
  }

  std::size_t const versions_, threads_, stride_;
  MPI_Win window_ = MPI_WIN_NULL;
  int rank_ = 0;
  std::vector<shown> parts_;
};

class window final : public hybrid_way {
 public:
  explicit window(loop_cell const& cell)
      : hybrid_way("shared window by hand", cell),
        window_(cell.all(), cell.length()),
        looks_(window_.size() * cell.threads() > std::thread::hardware_concurrency() ? 100 : looks_before_yields) {
    for (std::size_t version = 0; version < window_.versions(); ++version)
      for (shown const& each : window_.parts()) sums_[version].push_back(each.sums[version]);
  }

  std::string declines() const override {
    return cell_.all().some_share_a_host() ? "" : "a process per host: as fold + MPI";
  }

  void cycle(double weight) override {
    ++epoch_;
#pragma omp parallel
    {
      std::size_t const thread = this_thread();
      auto const slice = cell_.slice_of(thread);
      show(thread, weight, slice);
      // The same slice of all processes is all that this thread needs: no process waits for another as a whole.
      for (shown const& each : window_.parts()) wait_for(each.folded[thread], epoch_);
      if (cell_.all().hosts() == 1 && window_.size() <= 2)
        sum_range(sums_[version()].data(), window_.size(), cell_.total(), slice);
      else
        sum_in_parts(thread, slice);
      publish(window_.mine().taken[thread]);
      if (cell_.threads() == 1) clear_for_next(slice);
    }
  }

 private:
  std::size_t version() const { return epoch_ % window_.versions(); }

  void publish(flag& what) const {
    // Shows all that this thread has written, and that it has read. Partner: the acquire load in wait_for().
    what.value.store(epoch_, std::memory_order_release);
  }
  void wait_for(flag const& what, std::uint64_t epoch) const {
    spin_until([&] { return what.value.load(std::memory_order_acquire) >= epoch; }, looks_);
  }
  void wait_until_taken(std::size_t thread, std::uint64_t epoch) const {
    for (shown const& each : window_.parts()) wait_for(each.taken[thread], epoch);
  }

  /// The loop, and a slice of the process's sum into the window. Of one thread the window itself is the copy.
  void show(std::size_t thread, double weight, element_range const& slice) const {
    double* const sum = window_.mine().sums[version()];
    cell_.add(thread, weight, cell_.threads() == 1 ? sum : cell_.copies().of(thread));
#pragma omp barrier
    if (cell_.threads() > 1) {
      if (window_.versions() == 1) wait_until_taken(thread, epoch_ - 1);
      cell_.copies().move_sum(sum, slice);
    }
    publish(window_.mine().folded[thread]);
  }

  /// All have taken the other version if there is one: they have shown this one.
  void clear_for_next(element_range const& slice) const {
    if (window_.versions() == 1) wait_until_taken(0, epoch_);
    clear_range(window_.mine().sums[(epoch_ + 1) % window_.versions()], slice);
  }

  /// Of more than two processes each adds up a part of each slice: to read all of all sums would take longer than to read
  /// the result that others have made.
  void sum_in_parts(std::size_t thread, element_range const& slice) const {
    double* const result = window_.leader().results[version()];
    sum_range(sums_[version()].data(), window_.size(), result, part_of(slice, window_.own(), window_.size()));
    publish(window_.mine().summed[thread]);
    if (cell_.all().hosts() == 1) {
      for (shown const& each : window_.parts()) wait_for(each.summed[thread], epoch_);
    } else {
      if (thread == 0 && cell_.all().leads()) sum_over_hosts(result);
      wait_for(*window_.leader().over_hosts, epoch_);
    }
    copy_range(result, cell_.total(), slice);
  }
  void sum_over_hosts(double* result) const {
    for (shown const& each : window_.parts())
      for (std::size_t t = 0; t < cell_.threads(); ++t) wait_for(each.summed[t], epoch_);
    sum_in_place(result, cell_.length(), cell_.all().leaders());
    publish(*window_.mine().over_hosts);
  }

  shared_window window_;
  int const looks_;
  std::uint64_t epoch_ = 0;
  std::array<std::vector<double const*>, 2> sums_;  ///< [version][process]
};

}  // namespace

void add_window(hybrid_ways& ways, loop_cell const& cell) { ways.push_back(std::make_unique<window>(cell)); }

}  // namespace coset::measure
