// SPDX-License-Identifier: Apache-2.0
#include "lab/simulate/guidelines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

#include "command/bytes.hpp"
#include "command/machine_options.hpp"
#include "command/measure/references/compositions.hpp"
#include "command/why/why.hpp"
#include "lab/cache/simulation.hpp"
#include "lab/simulate/plans.hpp"

namespace coset::cli {
namespace {

/// What the library chooses takes, each call simulated once.
class simulated_times {
 public:
  explicit simulated_times(guidelines_request const& r) : request_(r) {}

  double operator()(verb what, std::uint64_t bytes, rank_t ranks) {
    auto const [at, is_new] = known_.try_emplace({what, bytes, ranks}, 0);
    if (is_new) at->second = seconds_of(what, bytes, ranks);
    return at->second;
  }

 private:
  double seconds_of(verb what, std::uint64_t bytes, rank_t ranks) const {
    choice::question q{.what = what, .ranks = ranks, .bytes = detail::is_barrier(what) ? 0 : bytes};
    auto const places = place_on(request_.machine, request_.place, request_.is_here, q);
    require_simulated(q, request_.machine);
    cache::machine const on(places, request_.costs, cache::sizes_of(request_.machine));
    return cache::simulate(on, work_of(q, choice::choose(q)), request_.timing).last;
  }

  guidelines_request const& request_;
  std::map<std::tuple<verb, std::uint64_t, rank_t>, double> known_;
};

/// The verbs of "reduce + broadcast"; nothing where something else is in it.
std::optional<std::vector<verb>> verbs_of(std::string_view composition) {
  std::vector<verb> parts;
  for (std::string_view rest = composition; !rest.empty();) {
    auto const end = rest.find(" + ");
    auto const name = rest.substr(0, end);
    rest = end == std::string_view::npos ? "" : rest.substr(end + 3);
    auto const found = std::ranges::find(all_verbs(), name, [](verb v) { return name_of(v); });
    if (found == all_verbs().end() || detail::shares_result(*found)) return std::nullopt;
    parts.push_back(*found);
  }
  return parts;
}

}  // namespace

table table_of_guidelines() {
  return table()
      .with(as::words, {"machine", "verb"})
      .with(as::numbers, {"ranks"})
      .with(as::bytes, {"size=bytes"})
      .with(as::words, {"timing"})
      .with(as::ratio, {"ratio"})
      .with(as::words, {"than"});
}

void add_guidelines(guidelines_request const& r, table& to) {
  simulated_times seconds(r);
  rank_t const cores = r.machine.cores(), ranks = r.ranks != 0 ? r.ranks : cores;
  for (std::string const& name : r.verbs) {
    verb const what = verb_named(name);
    if (detail::shares_result(what) && r.verbs.size() > 1) continue;
    for (std::size_t k = 0; k < r.sizes.size(); ++k) {
      std::uint64_t const bytes = r.sizes[k];
      double const own = seconds(what, bytes, ranks);
      auto const beside = [&](double other, std::string than) {
        to.add({{"machine", r.machine.name},
                {"verb", name},
                {"ranks", ranks},
                {"bytes", bytes},
                {"timing", r.timing == cache::timing::call ? "call" : "cycle"},
                {"ratio", own / other},
                {"than", std::move(than)}});
      };
      for (measure::composition const& one : measure::all_compositions()) {
        auto const parts = one.verb == name ? verbs_of(one.text) : std::nullopt;
        if (!parts) continue;
        double sum = 0;
        for (verb const part : *parts) sum += seconds(part, bytes, ranks);
        beside(sum, std::string(one.text));
      }
      if (k + 1 < r.sizes.size())
        beside(seconds(what, r.sizes[k + 1], ranks), "itself of " + bytes_for_people(r.sizes[k + 1]));
      if (ranks < cores) beside(seconds(what, bytes, ranks + 1), fmt::format("itself on {} ranks", ranks + 1));
      if (detail::is_barrier(what)) break;
    }
  }
}

}  // namespace coset::cli
