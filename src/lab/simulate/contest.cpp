// SPDX-License-Identifier: Apache-2.0
#include "lab/simulate/contest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "coset/plan.hpp"
#include "lab/cache/by_hand.hpp"
#include "lab/simulate/plans.hpp"
#include "planning/choice/explain.hpp"
#include "planning/program/program.hpp"

namespace coset::cli {
namespace {

/// Everybody reads everything: of longer vectors nobody would.
constexpr std::uint64_t most_for_everything = 64 * 1024;
constexpr std::array flat_storages{"staged", "output", "zero_copy", "zero_copy+stream"};

class entrants {
 public:
  explicit entrants(contest_request const& r)
      : request_(r), machine_(r.places, r.costs, r.caches), found_{r.asked.bytes, {}} {}

  simulated_contest all() && {
    for (auto const& plan : request_.plans) add_named(plan);
    auto const explained = choice::explain(request_.asked);
    simulate_program(explained.chosen.what, offer::chosen, explained.chosen.seconds());
    add_by_hand();
    for (char const* const storage : flat_storages) add_text("direct", storage, offer::flat);
    add_considered(explained);
    std::ranges::stable_sort(found_.rows, {}, [](contest_row const& row) { return row.found.last; });
    return std::move(found_);
  }

 private:
  void add_named(std::string const& text) {
    plan_options const wanted = plan_named(text);
    if (wanted.segment_bytes != 0)
      throw schedule_error(fmt::format("plan '{}': segments are not simulated; leave them out", text));
    if (wanted.algorithm == "auto" || wanted.storage == "auto")
      throw schedule_error(
          fmt::format("plan '{}': name both, as in direct/staged; what is chosen is simulated anyway", text));
    simulate_program({schedule::algorithm::parse(wanted.algorithm), program::parse_policy(wanted.storage)},
                     offer::named, std::nullopt);
  }

  void add_by_hand() {
    if (detail::folds_for_all(request_.asked.what) && !request_.asked.in_place)
      simulate_work(barriers_name, offer::by_hand, std::nullopt,
                    cache::barrier_loop(request_.asked.ranks, request_.asked.bytes));
    add_text("binomial", "staged", offer::by_hand);
    if (request_.asked.bytes > most_for_everything) return;
    add_text("direct(saved_steps=1)", "staged_pull", offer::by_hand);
    add_text("direct", "staged_pull", offer::flat);
  }

  /// With levels the library pushes copies on; both are simulated, as that is a rule and no price.
  void add_considered(choice::explanation const& explained) {
    std::size_t left = request_.considered;
    for (auto const& one : explained.candidates) {
      if (left-- == 0) return;
      add(one.what, offer::considered, one.seconds());
      auto pushed = one.what;
      if (pushed.storage.how != program::copies::forward || pushed.algorithm.name == "direct") continue;
      pushed.storage.how = program::copies::push;
      add(pushed, offer::considered, one.seconds());
    }
  }

  void add_text(std::string const& algorithm, std::string const& storage, offer by) {
    add({schedule::algorithm::parse(algorithm), program::parse_policy(storage)}, by, std::nullopt);
  }

  /// What is undefined for these ranks, or would lose a value, is left out.
  void add(choice::answer const& what, offer by, std::optional<double> model_seconds) {
    try {
      simulate_program(what, by, model_seconds);
    } catch (schedule_error const&) {
    }
  }

  void simulate_program(choice::answer const& what, offer by, std::optional<double> model_seconds) {
    std::string const name = what.algorithm.text() + "/" + program::policy_name(what.storage);
    if (!seen_.insert(name).second) {
      for (contest_row& row : found_.rows) {
        if (row.name != name) continue;
        if (!row.model_seconds) row.model_seconds = model_seconds;
        row.is_chosen |= by == offer::chosen;
      }
      return;
    }
    simulate_work(name, by, model_seconds, work_of(request_.asked, what));
  }

  void simulate_work(std::string const& name, offer by, std::optional<double> model_seconds, cache::work const& work) {
    found_.rows.push_back(
        {name, by, model_seconds, cache::simulate(machine_, work, request_.timing), by == offer::chosen});
  }

  contest_request const& request_;
  cache::machine const machine_;
  std::set<std::string> seen_;
  simulated_contest found_;
};

}  // namespace

char const* name_of(offer by) {
  constexpr std::array names{"named", "chosen", "by hand", "flat", "considered"};
  return names[static_cast<std::size_t>(by)];
}

contest_row const* simulated_contest::best(offer by) const {
  auto const found = std::ranges::find(rows, by, &contest_row::by);
  return found == rows.end() ? nullptr : &*found;
}

contest_row const& simulated_contest::chosen() const { return *std::ranges::find_if(rows, &contest_row::is_chosen); }

contest_row const* simulated_contest::named(std::string const& name) const {
  auto const found = std::ranges::find(rows, name, &contest_row::name);
  return found == rows.end() ? nullptr : &*found;
}

simulated_contest simulate_all(contest_request const& r) { return entrants(r).all(); }

}  // namespace coset::cli
