// SPDX-License-Identifier: Apache-2.0
// The choice of the instruction set, and the look-up of folds.
#include "runtime/kernels/kernels.hpp"

#include <pthread.h>

#include <array>
#include <exception>

#include "base/environment/variables.hpp"
#include "coset/error.hpp"
#include "hwy/targets.h"
#include "runtime/kernels/operation_sets.hpp"
#include "runtime/kernels/processor.hpp"

namespace coset::kernels {
namespace {

struct choice {
  std::int64_t target;
  std::array<operation_sets const*, operations> sets;  // indexed by `operation`
};

/// Those that folds are compiled for, best first.
std::vector<std::int64_t> targets_here() {
  std::vector<std::int64_t> all;
  for (std::int64_t left = supported_targets() & HWY_TARGETS; left != 0; left &= left - 1) all.push_back(left & -left);
  return all;
}

/// This one and those that are no better, of which an operation takes the best that it is compiled for: the better a target is, the
/// lower is its bit.
choice choose(std::int64_t target) {
  std::int64_t const these = supported_targets() & ~(target - 1);
  return {target,
          {&plus_sets(these), &multiplies_sets(these), &minimum_sets(these), &maximum_sets(these), &bit_and_sets(these),
           &bit_or_sets(these), &bit_xor_sets(these), &reproducible_plus_sets(these)}};
}

std::int64_t target_named(std::string_view name) {
  std::string possible;
  for (auto const target : targets_here()) {
    if (name == hwy::TargetName(target)) return target;
    possible += possible.empty() ? "" : ", ";
    possible += hwy::TargetName(target);
  }
  throw argument_error("instruction set \"" + std::string(name) +
                       "\" is not one that this machine can run: " + possible);
}

choice choose_at_start() try {
  auto const restricted = environment::value("COSET_ISA");
  return choose(restricted.empty() ? targets_here().front() : target_named(restricted));
} catch (argument_error const& e) {
  throw argument_error(std::string("COSET_ISA: ") + e.what());
}

choice& current() {
  static choice chosen = choose_at_start();
  return chosen;
}

/// A child that found the choice half made, by a thread that it has not, would wait for ever.
[[gnu::constructor]] void choose_before_forks() {
  pthread_atfork(
      [] {
        try {
          static_cast<void>(current());
        } catch (std::exception const&) {
          // COSET_ISA is wrong, as the next call will say.
        }
      },
      nullptr, nullptr);
}

operation_sets const& sets_of(operation op) { return *current().sets[static_cast<std::size_t>(op)]; }

}  // namespace

detail::fold_set const& find(operation op, element type) { return *sets_of(op).cached[static_cast<std::size_t>(type)]; }

detail::fold_set const* find_streaming(operation op, element type) {
  return sets_of(op).streaming[static_cast<std::size_t>(type)];
}

detail::mixed_fold_function find_mixed(operation op, element type) {
  return sets_of(op).mixed[static_cast<std::size_t>(type)];
}

std::string instruction_set() { return hwy::TargetName(current().target); }

std::vector<std::string> instruction_sets() {
  std::vector<std::string> names;
  for (auto const target : targets_here()) names.emplace_back(hwy::TargetName(target));
  return names;
}

void force_instruction_set(std::string_view name) { current() = choose(target_named(name)); }

}  // namespace coset::kernels

namespace coset::inline COSET_ABI::detail {

fold_set const& built_in_folds(built_in_operation op, built_in_element type) { return kernels::find(op, type); }

fold_set const* built_in_streaming_folds(built_in_operation op, built_in_element type) {
  return kernels::find_streaming(op, type);
}

mixed_fold_function built_in_mixed_fold(built_in_operation op, built_in_element type) {
  return kernels::find_mixed(op, type);
}

}  // namespace coset::detail
