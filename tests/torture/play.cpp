// SPDX-License-Identifier: Apache-2.0
#include "torture/play.hpp"

#include <algorithm>
#include <exception>
#include <new>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <typeinfo>

#include "torture/misfortunes.hpp"

namespace coset::torture {
namespace {

/// What each rank does in each run, made before anything can be short.
class performance {
 public:
  explicit performance(trial& t)
      : trial_(t), all_(t), deeds_(trial::runs * t.ranks), common_(sums_length), first_(t.ranks) {
    for (std::uint32_t run = 0; run < trial::runs; ++run)
      for (rank_t r = 0; r < t.ranks; ++r) make(run, r, t.ranks);
  }

  void plan_for(stage& on) {
    if (deeds()[trial_.where.deed].other != deed_kind::planned) return;
    if (auto made = on.plan_of(all_.count)) all_.planned.emplace(*made);
  }

  /// Says by words, or nothing, how the run has ended.
  void run(stage& on, std::uint32_t number) try {
    on.run({.prepare =
                [&](rank_t rank, rank_t ranks) {
                  if (ranks != trial_.ranks) make(number, rank, ranks);
                },
            .befall =
                [&](member& me, std::uint32_t round) {
                  if (number == 0 && round == trial_.strikes_at && me.rank() == trial_.striker)
                    befall_during(trial_, &me);
                },
            .of = [&](rank_t rank, std::uint32_t round) -> deed& { return *deeds_of(number, rank)[round]; },
            .check = [&](rank_t rank, std::uint32_t round) { check(*deeds_of(number, rank)[round]); }});
  } catch (std::bad_alloc const&) {
    // Reducers say that they throw it, and so does making a team, which a region does in its run; oneTBB's own does.
    bool const is_others = trial_.where.team == team_kind::openmp || trial_.where.team == team_kind::tasks;
    bool const is_verbs = deeds()[trial_.where.deed].other == deed_kind::is_verb && !is_others;
    is_verbs ? trial_.said.wrong("std::bad_alloc without words") : trial_.said.tell(outcome::words, "std::bad_alloc");
  } catch (error const& thrown) {
    trial_.said.tell(outcome::words, thrown.what());
  } catch (std::system_error const& thrown) {  // of the program's own threads
    trial_.said.tell(outcome::words, thrown.what());
  } catch (std::runtime_error const& thrown) {
    bool const is_of_tbb = std::string_view(thrown.what()).starts_with("pthread_create has failed");
    trial_.said.tell(is_of_tbb ? outcome::words : outcome::wrong, thrown.what());
  } catch (std::exception const& thrown) {
    trial_.said.wrong(std::string(typeid(thrown).name()) + ": " + thrown.what());
  }

 private:
  using rounds = std::vector<std::unique_ptr<deed>>;

  rounds& deeds_of(std::uint32_t run, rank_t rank) { return deeds_[run * trial_.ranks + rank]; }

  void make(std::uint32_t run, rank_t rank, rank_t ranks) {
    rounds made;
    bool const as_task = trial_.where.team == team_kind::tasks, of_modes = trial_.where.what == fault::modes;
    first_.resize(std::max<std::size_t>(first_.size(), ranks));
    for (std::uint32_t round = 0; round < trial::rounds; ++round) {
      auto sum = of_modes ? make_sum(trial_, rank, ranks, common_, first_[rank]) : nullptr;
      made.push_back(sum ? std::move(sum) : make_deed(trial_, all_, run * trial::rounds + round, rank, ranks, as_task));
    }
    deeds_of(run, rank) = std::move(made);
  }

  void check(deed const& done) {
    if (std::string const wrong = done.wrong(); !wrong.empty()) trial_.said.wrong(wrong);
  }

  trial& trial_;
  common_things all_;
  std::vector<rounds> deeds_;
  std::vector<double> common_;
  std::vector<std::vector<double>> first_;
};

}  // namespace

void play_on(stage& on, trial& t) {
  performance all(t);
  all.plan_for(on);
  for (std::uint32_t run = 0; run < trial::runs; ++run) all.run(on, run);
}

void play(trial& t) {
  static std::unique_ptr<stage> on;  // whoever ends the process by exit() ends it
  performance all(t);
  befall_before(t);
  try {
    on = make_stage(t);
    all.plan_for(*on);
    for (std::uint32_t run = 0; run < trial::runs; ++run) all.run(*on, run);
  } catch (std::bad_alloc const&) {
    t.said.tell(outcome::words, "std::bad_alloc");
  } catch (std::exception const& thrown) {
    t.said.tell(outcome::words, thrown.what());
  }
  on.reset();
  relieve(t);
  t.said.tell(outcome::right, "");
}

}  // namespace coset::torture
