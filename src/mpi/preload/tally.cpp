// SPDX-License-Identifier: Apache-2.0
#include "mpi/preload/tally.hpp"

#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <tuple>

#include "base/environment/variables.hpp"
#include "mpi/preload/real.hpp"

namespace coset::interpose {
namespace {

/// Of equal counts, and of any.
std::array<std::array<std::atomic<std::uint64_t>, 2>, detail::verb_rows.size()> carried_out;

std::atomic<std::uint64_t> teams_made = 0, teams_taken_again = 0;

std::mutex counting;
/// Never destroyed: programs may call MPI, and end it, in destructors of static objects.
auto& left = *new std::map<std::tuple<verb, bool, form, std::string>, std::uint64_t>;

bool& required() {
  static bool wanted = environment::value("COSET_INTERPOSE_REQUIRE") == "1";
  return wanted;
}

}  // namespace

bool is_logged() noexcept {
  static bool const wanted = environment::has_word(environment::value("COSET_LOG"), "mpi");
  return wanted;
}

bool is_required() noexcept { return required(); }
void require_all() noexcept { required() = true; }

void count_carried_out(arguments const& call) noexcept {
  carried_out[static_cast<std::size_t>(call.what)][call.varies ? 1 : 0].fetch_add(1, std::memory_order_relaxed);
}

void count_team_made() noexcept { teams_made.fetch_add(1, std::memory_order_relaxed); }
void count_team_taken_again() noexcept { teams_taken_again.fetch_add(1, std::memory_order_relaxed); }

bool may_be_left_to_mpi(arguments const& call, form how, char const* why) noexcept {
  if (is_logged()) {
    std::lock_guard const lock(counting);
    ++left[{call.what, call.varies, how, why}];
  }
  if (!is_required()) return true;
  std::fprintf(stderr, "coset: %s is left to MPI (%s), which COSET_INTERPOSE_REQUIRE forbids\n",
               name_of(call.what, call.varies, how).c_str(), why);
  inside const layer;
  PMPI_Comm_call_errhandler(call.communicator, MPI_ERR_OTHER);
  return false;
}

void log_once(char const* words) noexcept {
  if (!is_logged()) return;
  static auto& said = *new std::set<std::string>;
  std::lock_guard const lock(counting);
  if (said.emplace(words).second) std::fprintf(stderr, "coset: %s\n", words);
}

/// Process 0's counts: collectives are called by all.
void log_summary() noexcept {
  if (!is_logged()) return;
  inside const layer;
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank != 0) return;
  std::string words = "coset: collectives of process 0";
  if (auto const* const tool = name_of_tool()) words += std::string(", seen first by ") + tool;
  for (detail::verb_row const& row : detail::verb_rows)
    for (bool const varies : {true, false}) {
      std::uint64_t const times = carried_out[static_cast<std::size_t>(row.what)][varies ? 1 : 0];
      if (times != 0) words += "\n  " + std::to_string(times) + " " + std::string(interpose::name_of(row.what, varies));
    }
  if (teams_made != 0)
    words += "\n  " + std::to_string(teams_made) + " teams made, taken again " + std::to_string(teams_taken_again) +
             " times";
  std::lock_guard const lock(counting);
  for (auto const& [which, times] : left) {
    auto const& [what, varies, how, why] = which;
    words += "\n  " + std::to_string(times) + " " + name_of(what, varies, how) + " left to MPI: " + why;
  }
  std::fprintf(stderr, "%s\n", words.c_str());
}

}  // namespace coset::interpose
