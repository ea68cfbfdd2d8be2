// SPDX-License-Identifier: Apache-2.0
// Allreduces that nobody would write: any fold of anything that two ranks hold, as long as all end with everything.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "planning/schedule/core/schedule.hpp"
#include "planning/schedule/files/plan_json.hpp"

namespace coset::test {

class random_plan {
 public:
  random_plan(rank_t ranks, std::uint64_t seed) : random_(seed) {
    made_.algorithm = "random";
    made_.ranks = ranks;
    cut();
    made_.result.assign(ranks, std::vector<schedule::slot_t>(made_.blocks.size(), schedule::no_slot));
    std::size_t const steps = below(5);
    for (std::size_t i = 0; i < steps; ++i) made_.steps.emplace_back();
    made_.steps.emplace_back();
    for (schedule::block_t b = 0; b < made_.blocks.size(); ++b) fill(b);
  }

  schedule::schedule const& plan() const { return made_; }

 private:
  struct held {
    schedule::source at;
    std::set<rank_t> of;
    std::size_t step;  ///< from which on others may read it
  };

  std::size_t below(std::size_t end) { return std::uniform_int_distribution<std::size_t>(0, end - 1)(random_); }

  void cut() {
    std::size_t const blocks = 1 + below(4);
    std::int64_t const parts = 12;
    std::set<std::int64_t> begins{0};
    while (begins.size() < blocks) begins.insert(static_cast<std::int64_t>(below(parts)));
    for (auto at = begins.begin(); at != begins.end(); ++at) {
      std::int64_t const end = std::next(at) == begins.end() ? parts : *std::next(at);
      made_.blocks.push_back({schedule::fraction(*at, parts), schedule::fraction(end - *at, parts)});
    }
  }

  void fill(schedule::block_t b) {
    std::vector<held> all;
    std::vector<schedule::slot_t> slots(made_.ranks, 0);
    for (rank_t r = 0; r < made_.ranks; ++r) all.push_back({{r, 0}, {r}, 0});
    auto const assign = [&](std::size_t step, rank_t r, std::vector<schedule::source> const& from,
                            std::set<rank_t> of) {
      made_.steps[step].push_back({r, b, ++slots[r], static_cast<std::uint32_t>(made_.sources.size()),
                                   static_cast<std::uint32_t>(from.size())});
      made_.sources.insert(made_.sources.end(), from.begin(), from.end());
      if (of.size() == made_.ranks) made_.result[r][b] = slots[r];
      all.push_back({{r, slots[r]}, std::move(of), step + 1});
    };
    for (std::size_t step = 0; step + 1 < made_.steps.size(); ++step)
      for (std::size_t tried = 0; tried < 2 * std::size_t{made_.ranks}; ++tried) {
        auto const r = static_cast<rank_t>(below(made_.ranks));
        std::vector<schedule::source> from;
        std::set<rank_t> of;
        std::size_t const most = 1 + below(4);
        for (std::size_t s = 0; s < 3 * most && from.size() < most; ++s) {
          held const& one = all[below(all.size())];
          bool const there = one.step <= step || one.at.rank == r;
          auto const counted = [&](rank_t contributor) { return of.contains(contributor); };
          if (!there || std::ranges::any_of(one.of, counted)) continue;
          from.push_back(one.at);
          of.insert(one.of.begin(), one.of.end());
        }
        if (!from.empty()) assign(step, r, from, of);
      }
    std::vector<schedule::source> everything;
    std::set<rank_t> everybody;
    for (rank_t r = 0; r < made_.ranks; ++r) {
      everything.push_back({r, 0});
      everybody.insert(r);
    }
    for (rank_t r = 0; r < made_.ranks; ++r)
      if (made_.result[r][b] == schedule::no_slot) assign(made_.steps.size() - 1, r, everything, everybody);
  }

  std::mt19937_64 random_;
  schedule::schedule made_;
};

/// A plan in a file, as long as this lives.
class plan_in_file {
 public:
  explicit plan_in_file(schedule::schedule const& plan, std::string const& name = "plan.json")
      : folder_(std::filesystem::temp_directory_path() /
                ("coset_plans_" + std::to_string(::getpid()) + "_" + std::to_string(number()++))),
        path_(folder_ / name) {
    std::filesystem::create_directories(folder_);
    write(plan);
  }
  ~plan_in_file() { std::filesystem::remove_all(folder_); }
  plan_in_file(plan_in_file const&) = delete;
  plan_in_file& operator=(plan_in_file const&) = delete;

  void write(std::string const& content) const { std::ofstream(path_) << content; }
  void write(schedule::schedule const& plan) const {
    std::ofstream file(path_);
    schedule::write_plan(file, plan, {});
  }
  std::string path() const { return path_; }
  std::string named() const { return "plan(file=" + path() + ")"; }

 private:
  static int& number() {
    static int latest = 0;
    return latest;
  }

  std::filesystem::path folder_, path_;
};

}  // namespace coset::test
