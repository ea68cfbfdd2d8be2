// SPDX-License-Identifier: Apache-2.0
#include <sys/wait.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <span>
#include <tuple>

#include "torture/driver/driver.hpp"
#include "torture/misfortunes.hpp"

namespace coset::torture {
namespace {

bool has(std::string const& text, std::string_view words) { return text.find(words) != text.npos; }

/// Whether it has ended as its fault asked for.
bool is_asked_for(fault f, int status) {
  switch (f) {
    case fault::exit:
      return WIFEXITED(status) && WEXITSTATUS(status) == by_exit;
    case fault::exec:
      return WIFEXITED(status) && WEXITSTATUS(status) == by_exec;
    case fault::kill:
      return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
    default:
      return false;
  }
}

/// Runtimes of others, MPI's too, end the process where the system gives them no thread or no memory, and say so. MPICH does
/// so by an assertion, too, which ends in "Internal error"; and its launcher may cut off all but the words of UCX, which
/// carries its messages.
bool is_others_word(cell const& c, std::string const& errors) {
  bool const is_short = c.what == fault::threads || c.what == fault::full_memory || c.what == fault::address_space ||
                        c.what == fault::refused_calls;
  if (!is_short) return false;
  if (c.team == team_kind::processes)
    return has(errors, "Fatal error in") || has(errors, "MPI_ERRORS_ARE_FATAL") || has(errors, "UCX  ERROR") ||
           has(errors, ": Internal error");
  if (c.team == team_kind::openmp) return has(errors, "libgomp: ");
  return c.team == team_kind::tasks && (has(errors, "pthread_create") || has(errors, "TBB"));
}

std::string in_words(int status) {
  if (WIFSIGNALED(status)) return std::string("signal ") + strsignal(WTERMSIG(status));
  return "status " + std::to_string(WEXITSTATUS(status));
}

}  // namespace

ending judge(cell const& c, accounts const& all, bool in_time, int status, std::string const& errors) {
  bool const of_processes = c.team == team_kind::processes;
  auto const told = std::span(all).first(of_processes ? all.size() : 1);
  account const& worst = *std::ranges::max_element(told, {}, [](account const& a) { return a.said.load(); });
  std::string const said = worst.text;
  if (worst.said == outcome::wrong) return {verdict::wrong, said};
  if (!in_time) return {verdict::hung, said};
  bool const struck = std::ranges::any_of(told, [](account const& a) { return a.struck.load(); });
  bool const all_have_said = std::ranges::none_of(told, [](account const& a) { return a.said == outcome::none; });
  bool const came_to_its_end = WIFEXITED(status) && WEXITSTATUS(status) == 0 && all_have_said;
  // What a launcher makes of the end of one of its processes is the launcher's.
  if (ends_process(c.what) && struck && (of_processes ? !came_to_its_end : is_asked_for(c.what, status)))
    return {verdict::ended, said};
  if (came_to_its_end && worst.said == outcome::words) return {verdict::words, said};
  if (came_to_its_end && !ends_process(c.what)) return {verdict::right, said};
  if (came_to_its_end) return {verdict::silent, struck ? "the process has gone on" : "the fault did not happen"};
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {verdict::silent, "nothing is said of results"};
  if (is_others_word(c, errors)) return {verdict::words, errors};
  return {verdict::died, in_words(status) + (said.empty() ? "" : ", " + said)};
}

std::size_t tally::failures() const {
  std::size_t all = 0;
  for (auto const& [key, count] : counts_)
    for (std::size_t v = 0; v < count.size(); ++v) all += is_failure(verdict(v)) ? count[v] : 0;
  return all;
}

std::size_t tally::least_of(std::vector<cell> const& cells) const {
  std::size_t least = SIZE_MAX;
  for (cell const& c : cells) {
    auto const found = counts_.find({c.deed, c.team, c.what});
    std::size_t sum = 0;
    if (found != counts_.end())
      for (std::size_t const n : found->second) sum += n;
    least = std::min(least, sum);
  }
  return least;
}

std::string tally::table() const {
  std::map<std::pair<fault, team_kind>, std::array<std::size_t, verdict_names.size()>> sums;
  for (auto const& [key, count] : counts_) {
    auto& sum = sums[{std::get<2>(key), std::get<1>(key)}];
    for (std::size_t v = 0; v < count.size(); ++v) sum[v] += count[v];
  }
  std::string text;
  char line[200];
  std::snprintf(line, sizeof line, "%-22s %-10s", "fault", "team");
  text += line;
  for (auto const& name : verdict_names) {
    std::snprintf(line, sizeof line, " %8s", name.data());
    text += line;
  }
  for (auto const& [key, sum] : sums) {
    std::snprintf(line, sizeof line, "\n%-22s %-10s", fault_names[std::size_t(key.first)].data(),
                  team_names[std::size_t(key.second)].data());
    text += line;
    for (std::size_t const n : sum) {
      std::snprintf(line, sizeof line, " %8zu", n);
      text += line;
    }
  }
  return text + '\n';
}

std::string tally::lines() const {
  std::string text;
  for (auto const& [key, count] : counts_) {
    auto const [deed, team, what] = key;
    text += std::string(fault_names[std::size_t(what)]) + '\t' + std::string(team_names[std::size_t(team)]) + '\t' +
            std::string(deeds()[deed].name);
    for (std::size_t const n : count) text += '\t' + std::to_string(n);
    text += '\n';
  }
  return text;
}

}  // namespace coset::torture
