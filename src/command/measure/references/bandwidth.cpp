// SPDX-License-Identifier: Apache-2.0
// Plain reads, copies and folds, every rank for itself: the bandwidths that a reduction is held against.
#include <cstring>

#include "command/measure/harness/stage.hpp"
#include "command/measure/machine/parking.hpp"
#include "command/measure/machine/vector_levels.hpp"
#include "command/measure/references/fold.hpp"
#include "command/measure/references/operators.hpp"
#include "coset/detail/reduction.hpp"

namespace coset::measure {
namespace {

/// All bits of an array in one word, so that no load can be left out.
struct reading_body {
  [[gnu::always_inline]] static void run(std::byte const* from, std::size_t words, std::uint64_t* all) {
    auto const* const in = reinterpret_cast<std::uint64_t const*>(from);
    std::uint64_t found = 0;
    for (std::size_t i = 0; i < words; ++i) found ^= in[i];
    *all = found;
  }
};
using reading = vector_levels<reading_body, void(std::byte const*, std::size_t, std::uint64_t*)>;

class reader {
 public:
  reader(workload const& work, rank_t rank) : from_(work.input(rank)), words_(work.shape().bytes() / sizeof all_) {}

  void once() {
    read_(from_, words_, &all_);
    std::uint64_t volatile kept = all_;
    static_cast<void>(kept);
  }

 private:
  reading::function read_ = reading::best();
  std::byte const* from_;
  std::size_t words_;
  std::uint64_t all_ = 0;
};

class copier {
 public:
  copier(workload const& work, rank_t rank)
      : to_(work.output(rank)), from_(work.input(rank)), bytes_(work.shape().bytes()) {}

  void once() {
    std::memcpy(to_, from_, bytes_);
    asm volatile("" ::"r"(to_) : "memory");  // somebody might read it
  }

 private:
  std::byte *to_, *from_;
  std::size_t bytes_;
};

/// The P-way kernel of coset itself.
template <bool PastCaches>
class folder {
 public:
  folder(workload const& work, rank_t rank) : ranks_(work.shape().ranks) {
    problem const& p = work.shape();
    auto const [begin, end] = slice_of(p.count, p.ranks, rank);
    count_ = end - begin;
    for (rank_t r = 0; r < p.ranks; ++r) {
      from_.push_back(work.input(r) + begin * p.element_bytes());
      to_.push_back(work.output(r) + begin * p.element_bytes());
    }
    fold_ = visit_types(p.element, p.operation, [&]<class T, class Op>() {
      auto const& table = detail::table_of<T, plus>();  // any operation moves as much
      bool const streams = PastCaches && table.streaming_folds != nullptr;
      return (streams ? table.streaming_folds : table.folds)->for_sources(p.ranks);
    });
  }

  void once() { fold_(nullptr, to_.data(), ranks_, from_.data(), ranks_, count_); }

 private:
  rank_t ranks_;
  std::size_t count_ = 0;
  std::vector<void const*> from_;
  std::vector<void*> to_;
  decltype(detail::fold_set{}.for_sources(1)) fold_ = nullptr;
};

/// Each rank writes its input, and the next reads it: every line comes from another core's cache. Only reading is timed.
class handing final : public contestant {
 public:
  explicit handing(std::vector<unsigned> const& processors)
      : contestant("reference", "handed over"), crew_(processors), together_(crew_.size(), looks_among(processors)) {}

  std::string declines(problem const& p) const override {
    return p.ranks < 2 ? "one rank has nobody to hand anything to" : "";
  }

  // Only reading is in the time by which bursts are sized: the rest of so many iterations may take a hundred times as long.
  burst_result burst(workload const& work, burst_order const& asked) override {
    burst_order order = asked;
    order.warmup = std::min<std::size_t>(asked.warmup, 2);
    order.iterations = std::min<std::size_t>(asked.iterations, 32);
    burst_result made;
    made.nanoseconds.assign(order.iterations, 0);
    made.by_rank.resize(crew_.size());
    std::vector<std::vector<double>> spent(crew_.size(), std::vector<double>(order.iterations));
    crew_.run([&](rank_t rank) {
      reader from(work, (rank + 1) % crew_.size());
      for (std::size_t k = 0; k < order.warmup + order.iterations; ++k) {
        work.rewrite(rank, k);
        together_.arrive_and_wait(rank);
        auto const begin = ticks();
        from.once();
        auto const time = static_cast<double>(ticks_since(begin)) * nanoseconds_per_tick();
        if (k >= order.warmup) spent[rank][k - order.warmup] = time;
        together_.arrive_and_wait(rank);
      }
    });
    for (rank_t r = 0; r < crew_.size(); ++r) {
      made.by_rank[r] = median(spent[r]);
      for (std::size_t k = 0; k < order.iterations; ++k) made.nanoseconds[k] += spent[r][k] / crew_.size();
    }
    return made;
  }

 private:
  crew crew_;
  flag_barrier together_;
};

template <class Worker>
class bandwidth final : public contestant {
 public:
  bandwidth(std::vector<unsigned> const& processors, std::string name)
      : contestant("reference", std::move(name)), crew_(processors) {}

  // The stage's own writing and reading have an empty workload, so that nothing else is timed, in calls neither.
  burst_result burst(workload const& work, burst_order const& order) override {
    problem nothing = work.shape();
    nothing.count = 0;
    workload const empty(nothing);
    burst_order alone = order;
    alone.timing = timing::cycle;
    stage stage(empty, alone);
    crew_.run([&](rank_t rank) {
      work.rewrite(rank, 0);  // pages that nobody has written are all one
      Worker worker(work, rank);
      stage.play_rank(rank, [&](std::size_t) {
        worker.once();
        return empty.output(rank);
      });
    });
    return stage.result();
  }

 private:
  crew crew_;
};

}  // namespace

std::unique_ptr<contestant> make_reading(std::vector<unsigned> const& processors) {
  return std::make_unique<bandwidth<reader>>(processors, "read");
}

std::unique_ptr<contestant> make_copying(std::vector<unsigned> const& processors) {
  return std::make_unique<bandwidth<copier>>(processors, "copy");
}

std::unique_ptr<contestant> make_handing(std::vector<unsigned> const& processors) {
  return std::make_unique<handing>(processors);
}

std::unique_ptr<contestant> make_folding(std::vector<unsigned> const& processors, bool past_caches) {
  if (past_caches) return std::make_unique<bandwidth<folder<true>>>(processors, "fold past caches");
  return std::make_unique<bandwidth<folder<false>>>(processors, "fold");
}

}  // namespace coset::measure
