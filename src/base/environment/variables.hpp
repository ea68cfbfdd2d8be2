// SPDX-License-Identifier: Apache-2.0
// Every environment variable that coset reads, and the only way to read one.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "coset/verbs/verb.hpp"

namespace coset::environment {

struct variable {
  char const* name;
  std::string_view takes;     ///< its values
  std::string_view standard;  ///< what holds where it is not set
  std::string_view meaning;
  std::string_view readers;  ///< who reads it, and when
};

inline constexpr std::string_view by_launcher = "set by the launcher";
inline constexpr std::string_view at_team = "the library, when it makes a team";
inline constexpr std::string_view at_team_or_wait =
    "the library, when it makes a team; when a thread first waits in `combine()` in a region of OpenMP";
inline constexpr std::string_view at_plan = "the library, when it makes a plan";
inline constexpr std::string_view in_bench = "`coset bench`";
inline constexpr std::string_view at_start = "the library, when it makes its first team or reducer";
inline constexpr std::string_view at_exit = "the library, as the process ends";
inline constexpr std::string_view plans = "plans by size";
inline constexpr std::string_view chosen = "what the model chooses";

inline constexpr std::string_view same_for_verb = "The same for this verb.";

/// COSET_REDUCE_SCATTER and so on, in the order of the verbs.
inline constexpr auto names_by_verb = [] {
  std::array<std::array<char, 32>, detail::verb_rows.size()> names{};
  for (std::size_t v = 0; v < names.size(); ++v) {
    char* to = names[v].data();
    for (char const c : std::string_view("COSET_")) *to++ = c;
    for (char const c : detail::verb_rows[v].name) *to++ = static_cast<char>(c == '_' ? c : c - 'a' + 'A');
  }
  return names;
}();

inline constexpr variable plans_of_allreduce = {
    "COSET_ALLREDUCE", plans, chosen,
    "Plans for the sizes of this verb, `direct/staged:0-32k;generalized(radix=4):32k-`. No team can be made with "
    "a value that cannot be read; a plan that cannot serve a call is passed over. `plan(file=FILE)` is a schedule "
    "as Plan JSON; calls that it is for throw if it is wrong.",
    at_team};

/// In the order in which they are shown: coset's own after those of the verbs, then those of others that it heeds.
inline constexpr std::array other_variables{
    variable{"COSET_ADAPT", "`on`, `off`, `flip`", "`on`",
             "Whether ranks learn from blocking calls of more "
             "than 8 KiB "
             "which storage serves a shape best; all storages give the same bits. `flip` takes another one at each "
             "call, for tests.",
             at_plan},
    variable{"COSET_BIND", "`yes`, `no`", "`yes`", "Whether ranks are pinned to processors.", at_team},
    variable{"COSET_IDLE", "seconds", "5",
             "How long the threads and memory of a team that has ended wait for the next team that is asked for alike; "
             "0: not at all.",
             "the library, when a team ends"},
    variable{"COSET_INTERPOSE_REQUIRE", "`1`", "off",
             "A collective that `libcoset_preload.so` would leave to MPI is an error of its communicator; an MPI that "
             "it has nothing for ends the program.",
             "`libcoset_preload.so`, at its first call and its first collective"},
    variable{"COSET_ISA", "an instruction set that `coset info` lists", "the widest of this machine",
             "The instruction set of the kernels.", at_start},
    variable{
        "COSET_LOG", "`plan`, `team`, `mpi`; several with commas", "nothing",
        "What is printed on standard error. `plan`: the plan of each shape, plans that are passed over, teams that "
        "share processors, reducers, and the first one that ends with values that were never combined; teams that end "
        "are not kept then. `team`: what making each team took, and which got an idle one. `mpi`: what "
        "`libcoset_preload.so` carried out, and what it left to MPI and why.",
        "the library, where it prints; `libcoset_preload.so`, in MPI_Finalize"},
    variable{
        "COSET_MEMORY", "`standard`, `low_latency`, `high_bandwidth`, `large_capacity`",
        "`low_latency` for staging, `high_bandwidth` for arrays",
        "Which memory teams, reducers and buffers take where a machine has several kinds and the program says nothing. "
        "See docs/placement.md.",
        "the library, when it makes a team, a reducer or a buffer"},
    variable{"COSET_SHARE", "`yes`, `no`", "`yes`",
             "Whether processes that a launcher started on one host and did not bind divide its cores among them.",
             at_team},
    variable{"COSET_STUCK", "seconds", "60",
             "After how long a wait the team says, once, where its ranks are, on standard error, and a reduction of "
             "OpenMP which threads have not come to `combine()`; 0: never. See docs/troubleshooting.md.",
             at_team_or_wait},
    variable{"COSET_TIMEOUT", "seconds", "ranks wait for ever",
             "After how long a wait all ranks of the team throw `timed_out`. A wait for threads that do not come to a "
             "reduction's `combine()` ends the program instead, as no exception may leave a region of OpenMP. Also how "
             "long a process waits for the others to begin and end a run(), unless `mpi::options::deadline` says it.",
             at_team_or_wait},
    variable{"COSET_TRACE", "a file", "nothing is recorded",
             "What every rank does and waits for is written to this file as the process ends, for Perfetto and for "
             "`coset trace --summary`. Several processes write `name.0.json`, `name.1.json` …, children that a program "
             "forks "
             "`name.PID.json`; `%p` is the process's number in the system. Teams that end are not kept then. Not "
             "heeded where the program is setuid.",
             at_start},
    variable{"COSET_TRACE_EVENTS", "a number", "32768",
             "So many of each rank's latest events are kept for COSET_TRACE, of 64 bytes each; 4194304 at most.",
             at_start},
    variable{"COSET_TUNING", "a file, or `off`", "this machine's profile in the cache directory",
             "The profile that `coset tune` wrote. `off`: no profile.", at_team},
    variable{"XDG_CACHE_HOME", "a folder", "`~/.cache`", "Where profiles are: in `coset/` there.", at_team},
    variable{"HOME", "a folder", "no profile", "Where `.cache` is.", at_team},
    variable{"LD_PRELOAD", "files", "none",
             "Whether an old line preloads `libcoset_mpi.so`, which carries out nothing and says so.",
             "`libcoset_mpi.so`, when it is loaded"},
    variable{"HWLOC_FSROOT", "a folder", "`/`",
             "Another machine in the place of this one, from a copy of its /sys and /proc; its ranks are not pinned. "
             "Of several such variables the first one counts. One that hwloc cannot read is an error.",
             at_team},
    variable{"HWLOC_CPUID_PATH", "a folder", "this machine", "The same, from a copy of its cpuid.", at_team},
    variable{"HWLOC_SYNTHETIC", "hwloc's description of a machine", "this machine", "The same.", at_team},
    variable{"HWLOC_XMLFILE", "a file of hwloc's XML", "this machine", "The same.", at_team},
    variable{"HWLOC_THISSYSTEM", "`0`, `1`", "`0`", "Whether the other machine is to be taken for this one.",
             "hwloc; the library, when it makes a team"},
    variable{"HWLOC_COMPONENTS", "words of hwloc", "all", "How hwloc looks at machines.", "hwloc; named in messages"},
    variable{
        "OMP_PLACES", "OpenMP's places", "none",
        "OpenMP binds threads, the first one too: teams ask its runtime for all places instead of taking this thread's "
        "mask.",
        at_team},
    variable{"OMP_PROC_BIND", "OpenMP's words", "`false`", "The same, unless it is `false`.", at_team},
    variable{"GOMP_CPU_AFFINITY", "processors", "none", "The same, of libgomp.", at_team},
    variable{"KMP_AFFINITY", "libomp's words", "none", "The same, of libomp.", at_team},
    variable{"OMP_WAIT_POLICY", "`active`, `passive`", "`active`, or `passive` where ranks share cores",
             "How OpenMP's threads wait in the benchmark; it starts itself anew with the default.", in_bench},
    variable{
        "OMP_STACKSIZE", "a size", "1 GiB",
        "Stacks of OpenMP's threads in the benchmarks of programs and scatters, which start themselves anew with the "
        "default.",
        "`programs_bench_…`, `scatter_bench`"},
    variable{"OMPI_COMM_WORLD_LOCAL_RANK", "a number", by_launcher, "This process's number on its host.", at_team},
    variable{"OMPI_COMM_WORLD_LOCAL_SIZE", "a number", by_launcher, "Processes on this host.", at_team},
    variable{"OMPI_COMM_WORLD_RANK", "a number", by_launcher,
             "This process's number, for the name of COSET_TRACE's file.", at_exit},
    variable{"MPI_LOCALRANKID", "a number", by_launcher, "This process's number on its host.", at_team},
    variable{"MPI_LOCALNRANKS", "a number", by_launcher, "Processes on this host.", at_team},
    variable{"PMI_LOCAL_RANK", "a number", by_launcher, "This process's number on its host.", at_team},
    variable{"PMI_LOCAL_SIZE", "a number", by_launcher, "Processes on this host.", at_team},
    variable{"PMI_RANK", "a number", by_launcher, "This process's number, for the name of COSET_TRACE's file.",
             at_exit},
    variable{"SLURM_PROCID", "a number", by_launcher, "This process's number, for the name of COSET_TRACE's file.",
             at_exit},
    variable{"SLURM_LOCALID", "a number", by_launcher, "This process's number on its host.", at_team},
    variable{"PMIX_RANK", "a number", by_launcher, "This process's number, for the name of COSET_TRACE's file.",
             at_exit},
    variable{"PALS_RANKID", "a number", by_launcher, "This process's number, for the name of COSET_TRACE's file.",
             at_exit},
    variable{"PALS_LOCAL_RANKID", "a number", by_launcher, "This process's number on its host.", at_team},
    variable{"PALS_LOCAL_SIZE", "a number", by_launcher, "Processes on this host.", at_team},
    variable{"FLUX_TASK_RANK", "a number", by_launcher, "This process's number, for the name of COSET_TRACE's file.",
             at_exit},
    variable{"FLUX_TASK_LOCAL_ID", "a number", by_launcher, "This process's number on its host.", at_team},
    variable{"FLUX_JOB_SIZE", "a number", by_launcher, "Processes of the job, a share of which is on each host.",
             at_team},
    variable{"FLUX_JOB_NNODES", "a number", by_launcher, "Hosts of the job.", at_team},
    variable{"SLURM_STEP_TASKS_PER_NODE", "numbers", by_launcher, "Processes on each host.", at_team},
};

/// All of them.
inline constexpr auto variables = [] {
  std::array<variable, names_by_verb.size() + other_variables.size()> all{plans_of_allreduce};
  for (std::size_t v = 1; v < names_by_verb.size(); ++v)
    all[v] = {names_by_verb[v].data(), plans, chosen, same_for_verb, at_team};
  std::copy(other_variables.begin(), other_variables.end(), all.begin() + names_by_verb.size());
  return all;
}();
static_assert(std::string_view(names_by_verb[0].data()) == plans_of_allreduce.name);

/// The name of a variable that is in the table; any other does not compile.
class name {
 public:
  // NOLINTNEXTLINE(google-explicit-constructor): a name is written as what it is
  consteval name(char const* text) : text_(text) {
    bool const listed = std::any_of(variables.begin(), variables.end(),
                                    [text](variable const& each) { return std::string_view(each.name) == text; });
    if (!listed) throw "variables.hpp does not list this variable";
  }
  [[nodiscard]] constexpr char const* text() const noexcept { return text_; }

 private:
  char const* text_;
};

/// Empty if it is not set, too; data() is null then, and only then. Refers to the environment itself.
std::string_view value(name) noexcept;
/// Of a file to write: empty, too, where a program has rights that whoever set the environment may not have.
std::string_view value_to_write(name) noexcept;
std::string_view value_of(variable const&) noexcept;

/// Of all variables in the table that are set, with their values: two environments that differ in them have different ones, but
/// for one pair in 2^64.
struct all_set {
  std::uint64_t digest = 0;
  bool names_files = false;  ///< some plan is `plan(file=…)`, which the name says nothing of
};
all_set look_at_all() noexcept;

/// Whether a value like "plan,mpi" has this word.
constexpr bool has_word(std::string_view list, std::string_view word) noexcept {
  for (;;) {
    auto const comma = std::min(list.find(','), list.size());
    if (list.substr(0, comma) == word) return true;
    if (comma == list.size()) return false;
    list.remove_prefix(comma + 1);
  }
}

/// The variable with the plans of this verb, and its value.
std::string variable_of(verb);
std::string_view plans_of(verb);

}  // namespace coset::environment
