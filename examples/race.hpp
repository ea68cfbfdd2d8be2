// SPDX-License-Identifier: Apache-2.0
// What the examples share: sizes from the command line, and ways of doing one piece of work timed side by side.
#pragma once

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

namespace example {

struct size {
  char const* name;
  std::size_t otherwise;
};

/// The program's arguments are these sizes, in this order, 1 or more each; those that are left out take their default.
/// Ends the program for --help, and for an argument that is not a size.
inline std::vector<std::size_t> sizes(int argc, char** argv, char const* about, std::vector<size> const& wanted) {
  auto const explain = [&](std::FILE* to) {
    std::fprintf(to, "usage: %s", argv[0]);
    for (auto const& s : wanted) std::fprintf(to, " [%s=%zu]", s.name, s.otherwise);
    std::fprintf(to, "\n%s\n", about);
  };
  if (argc > 1 && std::strcmp(argv[1], "--help") == 0) {
    explain(stdout);
    std::exit(0);
  }
  std::vector<std::size_t> given;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    std::size_t value = wanted[i].otherwise;
    if (i + 1 < static_cast<std::size_t>(argc)) {
      char const* const text = argv[i + 1];
      auto const read = std::from_chars(text, text + std::strlen(text), value);
      if (read.ec != std::errc() || *read.ptr != '\0' || value == 0) {
        std::fprintf(stderr, "%s: %s is not a size\n", argv[0], text);
        explain(stderr);
        std::exit(2);
      }
    }
    given.push_back(value);
  }
  if (static_cast<std::size_t>(argc) > wanted.size() + 1) {
    explain(stderr);
    std::exit(2);
  }
  return given;
}

template <class Answer>
struct way {
  char const* name;
  std::function<void(Answer&)> work;  ///< into what it left there the time before
};

/// Runs all ways in turns and prints the median time of each: the serial one first, then coset's, then what it is
/// compared with. `same(serial's answer, another)` judges every answer; false if one was wrong.
template <class Answer, class Same>
bool race(std::vector<way<Answer>> const& ways, Same const& same, std::size_t rounds = 5) {
  std::vector<std::vector<double>> times(ways.size());
  std::vector<Answer> answers(ways.size());
  std::vector<bool> right(ways.size(), true);
  for (std::size_t round = 0; round <= rounds; ++round) {  // round 0 warms up
    for (std::size_t w = 0; w < ways.size(); ++w) {
      auto const begin = std::chrono::steady_clock::now();
      ways[w].work(answers[w]);
      std::chrono::duration<double, std::milli> const spent = std::chrono::steady_clock::now() - begin;
      if (round > 0) times[w].push_back(spent.count());
      if (!same(answers[0], answers[w])) right[w] = false;
    }
  }
  for (auto& of_one : times) std::nth_element(of_one.begin(), of_one.begin() + of_one.size() / 2, of_one.end());
  auto const median = [&](std::size_t w) { return times[w][rounds / 2]; };
  for (std::size_t w = 0; w < ways.size(); ++w) {
    std::printf("  %-28s %8.2f ms", ways[w].name, median(w));
    if (w == 1) std::printf("   %.2f times as fast as serial", median(0) / median(1));
    if (w > 1) std::printf("   coset is %.2f times as fast", median(w) / median(1));
    std::puts(right[w] ? "" : "   WRONG");
  }
  return std::find(right.begin(), right.end(), false) == right.end();
}

}  // namespace example
