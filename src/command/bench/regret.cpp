// SPDX-License-Identifier: Apache-2.0
// Everything that can serve takes turns with the default. A rival that takes three times as long as the best at first leaves the
// rounds, so that forty plans of a cell take seconds.
#include "command/bench/regret.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "command/bench/bench.hpp"
#include "command/bench/bench_output.hpp"
#include "command/bench/words.hpp"
#include "command/bytes.hpp"
#include "command/interruption.hpp"
#include "command/lab.hpp"
#include "command/machine_options.hpp"
#include "command/measure/harness/statistics.hpp"
#include "command/measure/references/compositions.hpp"
#include "command/output.hpp"
#include "command/table.hpp"
#include "command/why/why.hpp"
#include "command/why/why_measured.hpp"
#include "planning/choice/explain.hpp"

namespace coset::cli {
namespace {

constexpr double most_regret = 1.15;

/// What is asked of the choice for a verb of so many bytes by these ranks.
choice::question question_of(judged_request const& r, std::string const& verb_name, std::uint64_t bytes) {
  choice::question q{.what = verb_named(verb_name), .ranks = static_cast<rank_t>(r.processors.size()), .bytes = bytes};
  place_on(this_machine(), placement::compact, true, q);
  return q;
}

/// Every schedule that may serve in each storage that suits it, the one that the library takes unless it has learned first.
std::vector<std::string> plans_for(choice::question const& q) {
  std::vector<std::string> names;
  if (detail::row_of(q.what).in == detail::results::view) return names;  // of which there are no plan objects
  for (choice::priced_schedule const& s : choice::candidates(q).all())
    for (program::policy const& storage : choice::storages_for(q, s.kind))
      names.push_back(plan_of({s.algorithm, storage}));
  std::ranges::sort(names);
  names.erase(std::unique(names.begin(), names.end()), names.end());
  std::string const first = plan_of(choice::choose(q));  // which may not be among them: a rule may refine its storage
  std::erase(names, first);
  names.insert(names.begin(), first);
  return names;
}

std::vector<measure::contestant*> pointers_to(measure::contestants const& owned) {
  std::vector<measure::contestant*> players;
  for (auto const& one : owned) players.push_back(one.get());
  return players;
}

/// The default first, then all else.
measure::contestants players_of(judged_request const& r, std::string const& verb_name,
                                std::vector<std::string> const& plans) {
  measure::contestants all;
  all.push_back(measure::make_coset(r.processors, "", {.started = r.arguments.how.started}));
  for (std::string const& plan : plans) all.push_back(measure::make_coset(r.processors, plan));
  for (measure::composition const& one : measure::all_compositions())
    if (one.verb == verb_name) all.push_back(measure::make_composition(r.processors, one));
  auto families = rivals_named(r.arguments.against);
  if (r.arguments.against.empty())
    std::erase(families, "mpi");  // its processes take minutes to take turns with so many
  if (!families.empty())
    std::ranges::move(lab->make_rivals(verb_named(verb_name), r.processors, families), std::back_inserter(all));
  return all;
}

/// A's time as a multiple of b's in the rounds of one state; nothing if one of them has none.
std::optional<measure::comparison> ratio(measure::state_figures const& state, std::size_t a, std::size_t b) {
  auto const &ours = state.of[a].rounds, &theirs = state.of[b].rounds;
  if (ours.empty() || ours.size() != theirs.size()) return std::nullopt;
  return measure::compare(ours, theirs);
}

struct least {
  measure::comparison how;
  std::size_t who = 0;
};

/// Beside which of the others `a` is slowest.
std::optional<least> worst_for(measure::state_figures const& state, std::size_t a) {
  std::optional<least> found;
  for (std::size_t b = 0; b < state.of.size(); ++b)
    if (auto const r = b != a ? ratio(state, a, b) : std::nullopt; r && (!found || r->ratio > found->how.ratio))
      found = {*r, b};
  return found;
}

/// Rows as they are measured, the table as files, and how many cells are too far off.
class judged_table {
 public:
  /// `judged`: the column that is held against `most`.
  judged_table(judged_request const& r, table rows, char const* judged, double most)
      : json_(r.arguments.output.json),
        csv_(r.arguments.output.csv),
        rows_(std::move(rows)),
        judged_(judged),
        most_(most) {}

  void add(table::row row) { rows_.add(std::move(row)); }
  void print() const {
    std::cout << rows_.as_text() << rows_.within_in_words(judged_, most_) << '\n';
    if (json_.wanted())
      json_.write(text_of({{"rows", rows_.as_json()},
                           {"within", rows_.within(judged_, most_)},
                           {"of", rows_.rows().size()},
                           {"limit", most_}}));
    if (csv_.wanted()) csv_.write(rows_.as_csv());
  }

 private:
  output_file const json_, csv_;
  table rows_;
  char const* judged_;
  double most_;
};

table table_of_cells() {
  return table()
      .with(as::words, {"verb"})
      .with(as::bytes, {"size=bytes"})
      .with(as::words, {"timing", "state"})
      .with(as::numbers, {"rounds"});
}

table::row row_of(judged_request const& r, std::string const& verb_name, std::uint64_t bytes, measure::timing timing,
                  measure::state_figures const& state, measure::comparison const& c) {
  return {{"verb", (r.arguments.how.started ? "start_" : "") + verb_name},
          {"bytes", bytes},
          {"timing", name_of(timing)},
          {"state", state_in_words(state.state)},
          {"rounds", state.rounds},
          {"ratio", c.ratio},
          {"from", c.low},
          {"to", c.high}};
}

/// Calls visit(verb, bytes, timing) for each cell until the user interrupts.
template <class Visit>
void for_each_cell(judged_request const& r, Visit visit) {
  remember_interrupts();
  try {
    for (std::string const& verb_name : r.verbs)
      for (std::uint64_t const bytes : verb_name == "barrier" ? std::vector<std::uint64_t>{0} : r.sizes)
        for (auto const timing : measure::timings) try {
            visit(verb_name, bytes, timing);
          } catch (error const& reason) {  // of one plan, which is no reason to lose all that was measured
            std::cerr << fmt::format("{} {} left out: {}\n", verb_name, bytes_for_people(bytes), reason.what());
          }
  } catch (interrupted const&) {
    std::cerr << "interrupted: what follows is what was measured so far\n";
  }
}

/// Rounds of one cell, in which the first `kept` players stay whatever they take. A verb's arrays are cut into pieces by
/// those it is made of.
measure::measurement play_cell(judged_request const& r, std::string const& verb_name, std::uint64_t bytes,
                               measure::timing timing, std::vector<measure::contestant*> const& players,
                               std::size_t kept, measure::latency_probe& probe) {
  bench_arguments a = r.arguments;
  a.verb = verb_name;
  a.options.timing = timing;
  a.options.hopeless = 3;
  a.options.kept = kept;
  auto const ranks = static_cast<rank_t>(r.processors.size());
  std::uint64_t const grain = 8 * ranks;
  return play_size(a, bytes == 0 ? 0 : (bytes + grain - 1) / grain * grain, players, probe, ranks);
}

/// States in which too few rounds were played to say anything have no row. Returns how many items were wrong, and says whose.
template <class Visit>
std::size_t for_each_state(measure::measurement const& m, std::vector<measure::contestant*> const& players,
                           Visit visit) {
  for (measure::state_figures const& state : m.states)
    if (state.rounds >= measure::fewest_rounds - 1) visit(state);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < players.size(); ++i) {
    if (m.wrong[i] > 0)
      std::cerr << fmt::format("{} {}: {} wrong items by {}\n", name_of(m.shape.what),
                               bytes_for_people(m.shape.bytes()), m.wrong[i], players[i]->name());
    wrong += m.wrong[i];
  }
  return wrong;
}

}  // namespace

void measure_regret(judged_request const& r) {
  std::cout << "# regret: the default's time as a multiple of the least that any plan, composition or rival takes; "
               "1.00: none is faster.\n"
               "# from, to: its 95 % interval, below 1 where the default is faster; first: the same of a fresh "
               "process's first plan\n"
            << std::flush;
  judged_table rows(r,
                    table_of_cells()
                        .with(as::ratio, {"regret", "from", "to", "first=regret_of_first_plan"})
                        .with(as::words, {"best"}),
                    "regret", most_regret);
  measure::latency_probe probe(r.processors);
  std::size_t wrong = 0;
  for_each_cell(r, [&](std::string const& verb_name, std::uint64_t bytes, measure::timing timing) {
    auto const q = question_of(r, verb_name, bytes);
    auto const plans = plans_for(q);
    auto const owned = players_of(r, verb_name, plans);
    std::size_t const kept = plans.empty() ? 1 : 2;
    auto const m = play_cell(r, verb_name, bytes, timing, pointers_to(owned), kept, probe);
    wrong += for_each_state(m, pointers_to(owned), [&](measure::state_figures const& state) {
      auto const found = worst_for(state, 0);
      if (!found) return;
      auto const of_first = plans.empty() ? std::nullopt : worst_for(state, 1);
      auto row = row_of(r, verb_name, bytes, timing, state, found->how);
      row["regret"] = std::max(found->how.ratio, 1.0);
      row["regret_of_first_plan"] = of_first ? table::row(std::max(of_first->how.ratio, 1.0)) : table::row();
      row["best"] = found->how.ratio > 1 ? owned[found->who]->name() : "the default";
      rows.add(std::move(row));
    });
  });
  rows.print();
  finish(wrong);
}

void measure_guidelines(judged_request const& r) {
  std::cout
      << "# ratio: the verb's time as a multiple of that of what gives as much or more; above 1 the verb is slower\n"
      << std::flush;
  judged_table rows(r, table_of_cells().with(as::ratio, {"ratio", "from", "to"}).with(as::words, {"than"}), "ratio",
                    measure::most_of_guideline);
  measure::latency_probe probe(r.processors);
  std::size_t wrong = 0;
  for_each_cell(r, [&](std::string const& verb_name, std::uint64_t bytes, measure::timing timing) {
    measure::contestants owned;
    owned.push_back(measure::make_coset(r.processors, "", {.started = r.arguments.how.started}));
    for (measure::composition const& one : measure::all_compositions())
      if (one.verb == verb_name) owned.push_back(measure::make_composition(r.processors, one));
    if (owned.size() == 1) return;
    auto const m = play_cell(r, verb_name, bytes, timing, pointers_to(owned), 1, probe);
    wrong += for_each_state(m, pointers_to(owned), [&](measure::state_figures const& state) {
      for (std::size_t other = 1; other < owned.size(); ++other)
        if (auto const c = ratio(state, 0, other)) {
          auto row = row_of(r, verb_name, bytes, timing, state, *c);
          row["than"] = owned[other]->name();
          rows.add(std::move(row));
        }
    });
  });
  rows.print();
  finish(wrong);
}

}  // namespace coset::cli
