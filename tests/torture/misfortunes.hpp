// SPDX-License-Identifier: Apache-2.0
// What befalls a process: before its team is made, and while its ranks are at work.
#pragma once

#include "torture/trial.hpp"

namespace coset::torture {

/// Whether the fault is there from the start, which trial::salt decides where it may be either.
void befall_before(trial&);
/// By the rank that is struck, between two of its calls.
void befall_during(trial&, member* me);
/// What can be undone: the next case of the process begins afresh.
void relieve(trial&);

/// Statuses by which a process ends as it was asked to.
inline constexpr int by_exit = 43, by_exec = 44;
/// What a process becomes that has been asked to exec: main() of a program that is called so returns by_exec.
inline constexpr char const* after_exec = "--after-exec";

}  // namespace coset::torture
