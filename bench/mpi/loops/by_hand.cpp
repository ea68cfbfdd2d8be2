// SPDX-License-Identifier: Apache-2.0
// Ways of OpenMP and MPI alone.
#include "bench/mpi/loops/way.hpp"

namespace coset::measure {

loop_cell::loop_cell(processes& all, hybrid_loop const& loop)
    : all_(all),
      loop_(loop),
      length_([&] {
        std::size_t end = 0;
        for (std::size_t const length : loop.lengths()) {
          offsets_.push_back(end);
          end += length;
        }
        return end;
      }()),
      total_(length_),
      copies_(all.threads(), length_) {}

std::vector<std::span<double>> loop_cell::targets() const {
  std::vector<std::span<double>> all;
  for (std::size_t k = 0; k < offsets_.size(); ++k)
    all.emplace_back(total() + offsets_[k], (k + 1 < offsets_.size() ? offsets_[k + 1] : length_) - offsets_[k]);
  return all;
}

namespace {

/// The target is added to. Below so many doubles one thread clears it before others would have begun.
void clear_total(loop_cell const& cell) {
  constexpr std::size_t cleared_alone = std::size_t{1} << 15;
  if (cell.length() < cleared_alone) return clear_range(cell.total(), {0, cell.length()});
#pragma omp parallel
  clear_range(cell.total(), cell.slice_of(this_thread()));
}

/// The loop, and the sum over this process's threads in the total. Of one thread the total itself is the copy: another one
/// would only take room in the caches.
void fold_in_process(loop_cell const& cell, double weight) {
  if (cell.threads() == 1) {
    clear_total(cell);
    cell.add(0, weight, cell.total());
    return;
  }
#pragma omp parallel
  {
    std::size_t const thread = this_thread();
    cell.add(thread, weight, cell.copies().of(thread));
#pragma omp barrier
    cell.copies().move_sum(cell.total(), cell.slice_of(thread));
  }
}

class clause final : public hybrid_way {
 public:
  explicit clause(loop_cell const& cell) : hybrid_way("omp clause + MPI", cell) {}

  void cycle(double weight) override {
    double* const total = cell_.total();
    std::size_t const length = cell_.length();
    clear_total(cell_);
#pragma omp parallel reduction(+ : total[:length])
    cell_.add(this_thread(), weight, total);
    sum_in_place(total, length, MPI_COMM_WORLD);
  }
};

class fold_and_master final : public hybrid_way {
 public:
  explicit fold_and_master(loop_cell const& cell) : hybrid_way("fold + MPI", cell) {}

  void cycle(double weight) override {
    fold_in_process(cell_, weight);
    sum_in_place(cell_.total(), cell_.length(), MPI_COMM_WORLD);
  }
};

/// Each thread reduces what it has folded over the processes, without waiting for the others of its own.
class fold_and_all final : public hybrid_way {
 public:
  explicit fold_and_all(loop_cell const& cell) : hybrid_way("fold + MPI per thread", cell) {}

  std::string declines() const override {
    if (!cell_.all().every_thread_may_call()) return "MPI has no MPI_THREAD_MULTIPLE";
    return cell_.threads() == 1 ? "one thread: as the one before" : "";
  }

  void cycle(double weight) override {
    auto const& communicators = cell_.all().of_threads();
#pragma omp parallel
    {
      std::size_t const thread = this_thread();
      auto const own = cell_.slice_of(thread);
      cell_.add(thread, weight, cell_.copies().of(thread));
#pragma omp barrier
      cell_.copies().move_sum(cell_.total(), own);
      sum_in_place(cell_.total() + own.begin, own.end - own.begin, communicators[thread]);
    }
  }
};

/// The host's processes to their leader, the leaders, and back.
class leaders final : public hybrid_way {
 public:
  explicit leaders(loop_cell const& cell) : hybrid_way("leaders by MPI", cell) {}

  void cycle(double weight) override {
    fold_in_process(cell_, weight);
    processes const& all = cell_.all();
    double* const total = cell_.total();
    int const length = static_cast<int>(cell_.length());
    MPI_Reduce(all.leads() ? MPI_IN_PLACE : total, total, length, MPI_DOUBLE, MPI_SUM, 0, all.host());
    if (all.hosts() > 1) sum_in_place(total, cell_.length(), all.leaders());
    MPI_Bcast(total, length, MPI_DOUBLE, 0, all.host());
  }
};

}  // namespace

void add_by_hand(hybrid_ways& ways, loop_cell const& cell) {
  ways.push_back(std::make_unique<clause>(cell));
  ways.push_back(std::make_unique<fold_and_master>(cell));
  ways.push_back(std::make_unique<fold_and_all>(cell));
  ways.push_back(std::make_unique<leaders>(cell));
}

}  // namespace coset::measure
