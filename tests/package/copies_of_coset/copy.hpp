// SPDX-License-Identifier: Apache-2.0
// What each part of the process that has coset offers to the program. Nothing of coset's types crosses.
#pragma once

struct part_with_coset {
  /// Adds 1 to element 0 of every kind of reducer, by the calling thread.
  void (*add_one)();
  /// What is wrong with the sums of so many calls, with teams, plans, requests and the C interface; null if nothing is.
  char const* (*what_is_wrong)(int added);
  /// Whose code the part's calls reach: the name of a file.
  char const* (*file_of_calls)();
  char const* (*file_of_what_headers_define)();
  /// Throws coset::argument_error.
  void (*fail)();
  /// Whether an error is that of coset as the part knows it.
  bool (*recognises)(void (*fail)());
};

extern "C" part_with_coset const* coset_of_part();
