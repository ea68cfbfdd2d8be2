// SPDX-License-Identifier: Apache-2.0
#include "planning/choice/rules/settings.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/environment/variables.hpp"
#include "base/text/format.hpp"
#include "base/text/suggestion.hpp"
#include "coset/error.hpp"
#include "coset/verbs/verb.hpp"
#include "numa/kinds.hpp"
#include "planning/choice/choose.hpp"
#include "planning/choice/rules/table.hpp"
#include "planning/schedule/registry/algorithm.hpp"
#include "runtime/kernels/kernels.hpp"

namespace coset::choice {
namespace {

constexpr std::string_view prefix = "COSET_";

/// Variables that builds, tests and packages of coset read: here they are no mistakes.
constexpr std::array<std::string_view, 24> read_by_others{
    "COSET_DIR",       "COSET_ROOT",           "COSET_FORTRAN",
    "COSET_FUZZ",      "COSET_INSTALL",        "COSET_KERNEL_TARGETS",
    "COSET_LIBOMP",    "COSET_LIBRARY",        "COSET_MACHINES",
    "COSET_MPI",       "COSET_MPIEXEC",        "COSET_MPI_DIR",
    "COSET_MPI_RIVAL", "COSET_OPENMP_RUNTIME", "COSET_PERTURB",
    "COSET_PREFIX",    "COSET_PYTHON",         "COSET_PYTHON_FOLDER",
    "COSET_SANITIZE",  "COSET_UNITY",          "COSET_VALGRIND",
    "COSET_VERSION",   "COSET_VM_NODES",       "COSET_WERROR"};
constexpr std::array<std::string_view, 3> families_of_others{"COSET_BUILD_", "COSET_MPIEXEC_", "COSET_TEST_"};

std::vector<std::string> names_of_library() {
  std::vector<std::string> names;
  for (auto const& each : environment::variables) {
    if (std::string_view(each.name).starts_with(prefix)) names.emplace_back(each.name);
  }
  return names;
}

bool is_of_others(std::string_view name) {
  return std::ranges::find(read_by_others, name) != read_by_others.end() ||
         std::ranges::any_of(families_of_others, [name](std::string_view family) { return name.starts_with(family); });
}

/// The variable of a verb: an algorithm that serves this verb for no number of ranks.
std::string wrong_plan(verb what, std::string_view value) try {
  for (rule const& r : parse_rules(what, value)) {
    if (r.how.algorithm == "auto") continue;
    auto const name = schedule::algorithm::parse(r.how.algorithm).name;
    auto const& served = schedule::find_algorithm(name).verbs;
    auto const wanted = schedule_of(what);
    if (std::ranges::find(served, wanted) == served.end())
      return text::format("{} does not serve {} and is passed over", name, name_of(what));
  }
  return "";
} catch (error const&) {
  return "";  // making a team reports it
}

/// Empty where it is no number of seconds from 0. More than a century is one.
std::optional<std::chrono::nanoseconds> seconds_of(std::string_view value) {
  constexpr double century = 3.2e9;
  double seconds = 0;
  auto const [end, failure] = std::from_chars(value.data(), value.data() + value.size(), seconds);
  if (failure != std::errc() || end != value.data() + value.size() || !(seconds >= 0)) return {};
  return std::chrono::nanoseconds(static_cast<std::int64_t>(std::min(seconds, century) * 1e9));
}

bool are_log_words(std::string_view value) {
  for (;;) {
    std::string_view const word = value.substr(0, value.find(','));
    if (word != "plan" && word != "team" && word != "mpi") return false;
    if (word.size() == value.size()) return true;
    value.remove_prefix(word.size() + 1);
  }
}

std::string wrong_value(std::string_view name, std::string_view value) {
  if (name == "COSET_LOG" && !are_log_words(value))
    return "is no word that it takes: plan, team, mpi, or several with commas; what it does not know is not logged";
  if (name == "COSET_INTERPOSE_REQUIRE" && value != "1")
    return "is no word that it takes: 1; MPI carries out what is left to it";
  if (name == "COSET_ADAPT" && value != "off" && value != "on" && value != "flip")
    return "is no word that it takes: off, on, flip; plans are learned";
  if (name == "COSET_BIND" && value != "no" && value != "yes")
    return "is no word that it takes: no, yes; threads are pinned";
  if (name == "COSET_MEMORY" && std::ranges::find(numa::names_of_kinds, value) == numa::names_of_kinds.end())
    return "is no word that it takes: standard, low_latency, high_bandwidth, large_capacity; each has the memory of "
           "its default";
  if (name == "COSET_SHARE" && value != "no" && value != "yes")
    return "is no word that it takes: no, yes; processes of one host share its cores";
  if (name == "COSET_STUCK" && !seconds_of(value)) return "is no number of seconds; it is taken for 60";
  if (name == "COSET_IDLE" && !seconds_of(value)) return "is no number of seconds; it is taken for 5";
  if (name == "COSET_TIMEOUT" && !seconds_of(value)) return "is no number of seconds; ranks wait for ever";
  for (verb const what : all_verbs()) {
    if (name == environment::variable_of(what)) return wrong_plan(what, value);
  }
  return "";
}

std::vector<std::string> environment() {
  std::vector<std::string> all;
  for (char** setting = environ; setting != nullptr && *setting != nullptr; ++setting) all.emplace_back(*setting);
  return all;
}

bool name_wrong_settings() {
  for (std::string const& line : wrong_settings(environment())) text::complain(line);
  (void)kernels::instruction_set();
  return true;
}

}  // namespace

adaptation wanted_adaptation() {
  auto const wanted = environment::value("COSET_ADAPT");
  return wanted == "off" ? adaptation::off : wanted == "flip" ? adaptation::flipping : adaptation::on;
}

wait_limits wanted_wait_limits() {
  return {seconds_of(environment::value("COSET_STUCK")).value_or(std::chrono::seconds(60)),
          seconds_of(environment::value("COSET_TIMEOUT")).value_or(std::chrono::seconds(0))};
}

std::chrono::nanoseconds wanted_idle_time() {
  return seconds_of(environment::value("COSET_IDLE")).value_or(std::chrono::seconds(5));
}

settings_now::settings_now() {
  auto const all = environment::look_at_all();
  digest = all.digest;
  name_files = all.names_files;
  auto const profile = environment::value("COSET_TUNING");
  if (profile.empty() || profile == "off") return;
  struct stat of = {};
  if (stat(std::string(profile).c_str(), &of) != 0) return;
  std::array const written{of.st_mtim.tv_sec, of.st_mtim.tv_nsec, of.st_size};
  digest = detail::hash_of({reinterpret_cast<char const*>(written.data()), sizeof written}, digest);
}

std::vector<std::string> wrong_settings(std::vector<std::string> const& environment) {
  auto const known = names_of_library();
  std::vector<std::string> lines;
  for (std::string_view const setting : environment) {
    auto const equals = std::min(setting.find('='), setting.size());
    std::string_view const name = setting.substr(0, equals),
                           value = setting.substr(std::min(equals + 1, setting.size()));
    if (!name.starts_with(prefix) || is_of_others(name)) continue;
    if (std::ranges::find(known, name) == known.end()) {
      lines.push_back(text::format("{} is not a variable that coset reads; {} is", name, text::nearest(name, known)));
    } else if (auto const wrong = wrong_value(name, value); !wrong.empty() && !value.empty()) {
      lines.push_back(text::format("{}={}: {}", name, value, wrong));
    }
  }
  return lines;
}

void name_wrong_settings_once() { static bool const done [[maybe_unused]] = name_wrong_settings(); }

}  // namespace coset::choice
