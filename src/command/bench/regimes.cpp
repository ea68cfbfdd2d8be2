// SPDX-License-Identifier: Apache-2.0
// One team whose ranks, and whose callers' habits, change from phase to phase.
#include "command/bench/regimes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <coset/coset.hpp>
#include <iostream>
#include <nlohmann/json.hpp>
#include <set>

#include "command/bench/bench_output.hpp"
#include "command/bench/facts.hpp"
#include "command/bench/words.hpp"
#include "command/bytes.hpp"
#include "command/interruption.hpp"
#include "command/machine_options.hpp"
#include "command/measure/harness/statistics.hpp"
#include "command/output.hpp"
#include "command/table.hpp"
#include "numa/binding.hpp"
#include "numa/share.hpp"

namespace coset::cli {
namespace {

/// After a change, so many calls may take a wrong storage: 13 to the next that is timed, eight that show the change, 52 of trials.
constexpr int learning_calls = 80;
/// Before each burst, so that lines are where this contestant leaves them; and in it, some 2 ms at least.
constexpr int unsettled_calls = 8, fewest_calls = 20;
constexpr std::array storages{"staged", "output", "zero_copy"};

struct phase {
  std::string name;
  bool rewrites;
  std::vector<processor> places;  ///< of the ranks; empty: where they are
};

/// ns a call, by round; the default first.
using times = std::vector<std::vector<double>>;

std::set<unsigned> caches_of(std::vector<processor> const& places) {
  std::set<unsigned> l3s;
  for (processor const& p : places) l3s.insert(p.l3);
  return l3s;
}

std::vector<phase> phases_on(topology const& machine, rank_t ranks) {
  std::vector<phase> all{
      {"rewrite, call, read", true, {}}, {"call alone", false, {}}, {"rewrite, call, read again", true, {}}};
  if (ranks > machine.cores() || !numa::binding_wanted()) return all;
  auto const near = machine.place(ranks, placement::compact), far = machine.place(ranks, placement::scatter);
  if (caches_of(near).size() == caches_of(far).size()) return all;
  all.push_back({"moved apart", true, far});
  all.push_back({"moved back", true, near});
  return all;
}

/// One rank's arrays and its part of all contestants.
class rank_part {
 public:
  rank_part(member& me, std::size_t count, std::vector<plan<float>> const& fixed)
      : me_(me), fixed_(fixed), in_(count, 1), out_(count) {}

  void go_to(phase const& where) {
    if (!where.places.empty()) numa::bind_this_thread(where.places[me_.rank()].os_index);
    barrier(me_);
    for (std::size_t who = 0; who <= fixed_.size(); ++who)
      for (int k = 0; k < (who == 0 ? learning_calls : unsettled_calls); ++k) cycle(who, where.rewrites);
  }

  /// ns a call.
  double burst(std::size_t who, bool rewrites, int calls) {
    for (int k = 0; k < unsettled_calls; ++k) cycle(who, rewrites);
    barrier(me_);
    auto const begin = std::chrono::steady_clock::now();
    for (int k = 0; k < calls; ++k) cycle(who, rewrites);
    std::chrono::duration<double, std::nano> const took = std::chrono::steady_clock::now() - begin;
    return coset::allreduce(me_, took.count() / calls, maximum{});
  }

  /// The results of the last call.
  bool is_wrong() const {
    auto const ranks = static_cast<float>(me_.size());
    return std::isnan(read_) || !std::ranges::equal(in_, out_, [&](float in, float out) { return out == ranks * in; });
  }

 private:
  void cycle(std::size_t who, bool rewrites) {
    if (rewrites) rewrite();
    if (who == 0)
      coset::allreduce(me_, in_, out_);
    else
      fixed_[who - 1].execute(me_, in_, out_);
    if (rewrites) read();
  }

  /// An element of each line: what counts is who has the line.
  void rewrite() {
    ++turn_;
    for (std::size_t i = 0; i < in_.size(); i += per_line) in_[i] = static_cast<float>(turn_ % 8);
  }
  void read() {
    for (std::size_t i = 0; i < out_.size(); i += per_line) read_ += out_[i];
  }

  static constexpr std::size_t per_line = 64 / sizeof(float);

  member& me_;
  std::vector<plan<float>> const& fixed_;
  std::vector<float> in_, out_;
  unsigned turn_ = 0;
  float read_ = 0;  ///< so that results are read
};

struct row {
  std::uint64_t bytes;
  std::string phase;
  std::vector<double> median;    ///< the default, then the storages
  std::size_t best = 0;          ///< of the storages
  measure::comparison compared;  ///< the default with it
};

row row_of(std::uint64_t bytes, std::string phase, times const& all) {
  row made{bytes, std::move(phase), {}, 1, {}};
  for (auto const& one : all) made.median.push_back(measure::median(one));
  for (std::size_t who = 2; who < all.size(); ++who)
    if (made.median[who] < made.median[made.best]) made.best = who;
  made.compared = measure::compare(all[0], all[made.best]);
  return made;
}

/// All phases of one size. Rank 0 keeps the times; all ranks have agreed on them.
std::vector<row> measure_size(team& ranks, std::uint64_t bytes, std::vector<phase> const& phases, std::size_t rounds,
                              std::size_t& wrong) {
  std::size_t const count = std::max<std::size_t>(bytes / sizeof(float), 1);
  std::vector<plan<float>> fixed;
  for (char const* const storage : storages)
    fixed.push_back(make_plan<float>(ranks, count, plus{}, {.algorithm = "direct", .storage = storage}));
  std::vector<row> rows;
  std::atomic<std::size_t> wrong_results = 0;
  ranks.run([&](member& me) {
    rank_part part(me, count, fixed);
    for (phase const& now : phases) {
      part.go_to(now);
      int const calls =
          std::max(fewest_calls, static_cast<int>(2e6 / std::max(part.burst(0, now.rewrites, fewest_calls), 1.0)));
      times all(fixed.size() + 1, std::vector<double>(rounds));
      for (std::size_t round = 0; round < rounds; ++round)
        for (std::size_t who = 0; who < all.size(); ++who) {
          all[who][round] = part.burst(who, now.rewrites, calls);
          if (part.is_wrong()) ++wrong_results;
        }
      if (me.rank() == 0) rows.push_back(row_of(bytes, now.name, all));
    }
  });
  wrong += wrong_results;
  return rows;
}

nlohmann::ordered_json json_of(row const& r) {
  nlohmann::ordered_json medians{{"coset", r.median[0]}};
  for (std::size_t k = 0; k < storages.size(); ++k) medians[storages[k]] = r.median[k + 1];
  auto const found = advantage_of(r.compared);
  return {{"size", r.bytes},
          {"phase", r.phase},
          {"median_ns", medians},
          {"best", storages[r.best - 1]},
          {"times_faster", {{"median", found.median}, {"low", found.low}, {"high", found.high}}}};
}

table table_for(std::vector<std::uint64_t> const& sizes) {
  constexpr look from_ns{.unit = "us", .digits = 3, .scale = 1e-3};
  auto made = table().with(as::bytes, {"size"}).with(from_ns, "coset", "median_ns.coset");
  table::row row{{"median_ns", {{"coset", 1e6}}}, {"interval", "1.00× [1.00, 1.00]"}, {"verdict", "undecided"}};
  for (std::string const storage : storages) {
    made.with(from_ns, storage, "median_ns." + storage);
    row["median_ns"][storage] = 1e6;  // of most calls
  }
  made.with(as::words, {"than best storage=interval", "=verdict", "phase"});
  for (auto const bytes : sizes) {
    row["size"] = bytes;
    made.make_room(row);
  }
  return made;
}

std::string line_of(row const& r, table const& like) {
  auto told = json_of(r);
  told.update({{"interval", with_interval(r.compared)}, {"verdict", measure::name_of(r.compared.verdict)}});
  return like.line(told);
}

}  // namespace

void measure_regimes(regimes_request const& request) {
  auto const machine = machine_to_measure();
  rank_t const wanted = request.ranks != 0 ? request.ranks : machine.cores();
  require_room_for(wanted, machine);
  output_file const json(request.json_file);
  team ranks({.ranks = wanted});
  auto const phases = phases_on(machine, wanted);
  auto const told = table_for(request.sizes);
  std::cout << fmt::format(
                   "allreduce of floats on {} ranks; after each change {} calls are not timed\n"
                   "1.80×: coset is 1.8 times faster than the best storage\n",
                   wanted, learning_calls)
            << told.heads();
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  std::size_t measured = 0, wrong = 0;
  remember_interrupts();
  try {
    for (; measured < request.sizes.size() && (json.wanted() || !standard_output_lost()); ++measured) {
      show_progress(fmt::format("{} of {}", measured + 1, request.sizes.size()));
      auto const found = measure_size(ranks, request.sizes[measured], phases, request.rounds, wrong);
      show_progress("");
      for (row const& r : found) {
        std::cout << line_of(r, told) << std::flush;
        rows.push_back(json_of(r));
      }
      stop_if_interrupted();
    }
  } catch (interrupted const&) {
    report_interrupt(measured, request.sizes.size());
  }
  nlohmann::ordered_json figures{{"coset_regimes", 2}};
  figures.update(run_facts());
  figures.update({{"ranks", wanted}, {"rows", rows}});
  note_partial(figures, measured, request.sizes.size());
  if (json.wanted()) json.write(text_of(figures));
  finish(wrong);
}

}  // namespace coset::cli
