// SPDX-License-Identifier: Apache-2.0
// One way to reduce arrays across threads, as the rounds see it: an object that performs bursts.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "command/measure/harness/workload.hpp"

namespace coset::measure {

enum class timing {
  call,        ///< the collective alone, each one after an untimed barrier
  cycle,       ///< the period of: owner rewrites its input, collective, every rank reads the whole result
  alternating  ///< cycles and calls in turn: inputs are rewritten before every other collective, results read after the next
};
inline constexpr std::array timings{timing::cycle, timing::call, timing::alternating};

/// Around the collective of iteration `k`, which is of the input of that iteration but where these alternate.
constexpr bool rewrites(timing t, std::size_t k) { return t != timing::alternating || k % 2 == 0; }
constexpr bool reads(timing t, std::size_t k) { return t != timing::alternating || k % 2 != 0; }
constexpr std::size_t input_of(timing t, std::size_t k) { return rewrites(t, k) ? k : k - 1; }

struct burst_order {
  measure::timing timing = timing::cycle;
  std::size_t warmup = 0;      ///< iterations before the clock starts
  std::size_t iterations = 1;  ///< timed ones
};

struct burst_result {
  std::vector<double> nanoseconds;  ///< samples, each the mean of consecutive iterations, averaged over ranks
  std::vector<double> by_rank =
      {};                      ///< the median of each rank's own samples; 0 where only one thread looks at the clock
  std::size_t wrong = 0;       ///< items, over all ranks and iterations
  std::size_t iterations = 0;  ///< timed; noted by the rounds
};

/// Between bursts all threads of a contestant sleep, or do so soon by themselves.
class contestant {
 public:
  contestant(std::string family, std::string name) : family_(std::move(family)), name_(std::move(name)) {}
  virtual ~contestant() = default;
  contestant(contestant const&) = delete;
  contestant& operator=(contestant const&) = delete;

  /// The name that users select by: coset, omp, tbb, std, mpi; or reference, which is no collective.
  std::string const& family() const noexcept { return family_; }
  std::string const& name() const noexcept { return name_; }

  /// The reason for not taking part in this shape; empty if it does.
  virtual std::string declines(problem const&) const { return {}; }

  /// Called from outside its threads, one contestant at a time.
  virtual burst_result burst(workload const&, burst_order const&) = 0;

 private:
  std::string family_, name_;
};

using contestants = std::vector<std::unique_ptr<contestant>>;

/// How the library is called.
struct calls {
  bool in_place = false;  ///< the result replaces the input
  bool started = false;   ///< start_…() and a wait for it, where the library chooses the plan
};

/// Verbs that return a view have no start.
constexpr bool may_start(verb what) { return detail::row_of(what).in != detail::results::view; }

/// The library under test, with its own choice or with a named plan.
std::unique_ptr<contestant> make_coset(std::vector<unsigned> const& processors, std::string const& plan = "",
                                       calls how = {});
/// Not a collective, but the least that it needs: a round of flags, and for large allreduces the memory traffic.
std::unique_ptr<contestant> make_flag_round(std::vector<unsigned> const& processors);
std::unique_ptr<contestant> make_traffic(std::vector<unsigned> const& processors);

/// No collective either: what the ranks of a cycle do beside it.
std::unique_ptr<contestant> make_own_work(std::vector<unsigned> const& processors);

/// The bandwidth of memory, or of the caches that hold arrays of this size. Each rank repeats its own work without
/// waiting, and nothing is rewritten meanwhile: it reads its input; copies it; folds its slice of all inputs into all
/// outputs, by plain stores or past the caches.
std::unique_ptr<contestant> make_reading(std::vector<unsigned> const& processors);
std::unique_ptr<contestant> make_copying(std::vector<unsigned> const& processors);
std::unique_ptr<contestant> make_folding(std::vector<unsigned> const& processors, bool past_caches);
/// Each rank reads what another has just written.
std::unique_ptr<contestant> make_handing(std::vector<unsigned> const& processors);

}  // namespace coset::measure
