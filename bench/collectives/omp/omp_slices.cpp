// SPDX-License-Identifier: Apache-2.0
// OpenMP by hand: barriers and slices, in the forms that one meets.
#include "bench/collectives/by_hand.hpp"
#include "bench/collectives/factories.hpp"
#include "bench/collectives/omp/omp_contestant.hpp"
#include "bench/collectives/push.hpp"
#include "bench/collectives/slices.hpp"

namespace coset::measure {
namespace {

void barrier() {
#pragma omp barrier
}

class omp_copies final : public omp_contestant {
 public:
  explicit omp_copies(std::shared_ptr<openmp_region> region) : omp_contestant("omp copies", std::move(region)) {}

  std::string declines(problem const& p) const override {
    return p.bytes() > 64 * 1024 ? "everybody folds everything: for small arrays only" : "";
  }

  burst_result burst(workload const& work, burst_order const& order) override {
    published_copies copies(work);
    return play(work, order, [&](rank_t rank, std::size_t k) { return copies.reduce(rank, k, barrier); });
  }
};

class omp_private final : public omp_contestant {
 public:
  explicit omp_private(std::shared_ptr<openmp_region> region) : omp_contestant("omp private", std::move(region)) {}

  burst_result burst(workload const& work, burst_order const& order) override {
    shared_slices const slices(work);
    return play(work, order, [&](rank_t rank, std::size_t) { return slices.reduce_and_copy(rank, barrier); });
  }
};

/// Staged: own copies are folded into all of them, where each rank then finds the result to copy.
class omp_ips final : public omp_contestant {
 public:
  explicit omp_ips(std::shared_ptr<openmp_region> region) : omp_contestant("omp ips", std::move(region)) {}

  burst_result burst(workload const& work, burst_order const& order) override {
    staged_slices const slices(work);
    return play(work, order, [&](rank_t rank, std::size_t) { return slices.reduce(rank, barrier); });
  }
};

class omp_shared final : public omp_contestant {
 public:
  explicit omp_shared(std::shared_ptr<openmp_region> region) : omp_contestant("omp shared", std::move(region)) {}

  burst_result burst(workload const& work, burst_order const& order) override {
    shared_slices const slices(work);
    return play(work, order, [&](rank_t rank, std::size_t) { return slices.reduce(rank, barrier); });
  }
};

class omp_push final : public omp_contestant {
 public:
  omp_push(std::shared_ptr<openmp_region> region, bool streams)
      : omp_contestant(streams ? "omp push stream" : "omp push", std::move(region)), streams_(streams) {}

  burst_result burst(workload const& work, burst_order const& order) override {
    pushed_slices const slices(work, streams_);
    return play(work, order, [&](rank_t rank, std::size_t) { return slices.reduce(rank, barrier); });
  }

 private:
  bool streams_;
};

class omp_by_hand final : public omp_contestant {
 public:
  explicit omp_by_hand(std::shared_ptr<openmp_region> region) : omp_contestant("omp by hand", std::move(region)) {}

  burst_result burst(workload const& work, burst_order const& order) override {
    by_hand const hand(work);
    return play(work, order, [&](rank_t rank, std::size_t) { return hand.act(rank, barrier); });
  }
};

}  // namespace

std::unique_ptr<contestant> make_omp_by_hand(std::shared_ptr<openmp_region> region) {
  return std::make_unique<omp_by_hand>(std::move(region));
}
std::unique_ptr<contestant> make_omp_copies(std::shared_ptr<openmp_region> region) {
  return std::make_unique<omp_copies>(std::move(region));
}
std::unique_ptr<contestant> make_omp_ips(std::shared_ptr<openmp_region> region) {
  return std::make_unique<omp_ips>(std::move(region));
}
std::unique_ptr<contestant> make_omp_private(std::shared_ptr<openmp_region> region) {
  return std::make_unique<omp_private>(std::move(region));
}
std::unique_ptr<contestant> make_omp_push(std::shared_ptr<openmp_region> region) {
  return std::make_unique<omp_push>(std::move(region), false);
}
std::unique_ptr<contestant> make_omp_push_stream(std::shared_ptr<openmp_region> region) {
  return std::make_unique<omp_push>(std::move(region), true);
}
std::unique_ptr<contestant> make_omp_shared(std::shared_ptr<openmp_region> region) {
  return std::make_unique<omp_shared>(std::move(region));
}

}  // namespace coset::measure
