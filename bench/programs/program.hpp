// SPDX-License-Identifier: Apache-2.0
// Programs that reduce arrays, each written in several ways.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace coset::measure {

/// One way to write a program's step, which computes its results anew.
struct way {
  std::string_view name;
  std::function<void()> step;
  bool of_tasks = false;  ///< by oneTBB's threads, not OpenMP's
};

/// A program of one size.
class program {
 public:
  virtual ~program() = default;
  virtual std::string name() const = 0;
  /// For regions of so many threads; the last one is coset's usual way.
  virtual std::vector<way> written_for(int threads) = 0;

  /// How far the results of the step before are from those of one thread, at most, in units of the largest of them.
  virtual double error() const = 0;
  /// So that results can be told from those of the step before.
  virtual void spoil() = 0;
};

using program_list = std::vector<std::unique_ptr<program>>;

/// Programs of one kind, made when it is their turn.
struct program_kind {
  std::string_view name;
  program_list (*make)();
};

program_list make_depositions();
program_list make_force_loops();
program_list make_histograms();
program_list make_clusterings();
program_list make_spectra();
program_list make_transposes();

}  // namespace coset::measure
