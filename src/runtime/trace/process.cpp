// SPDX-License-Identifier: Apache-2.0
#include "runtime/trace/process.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <string_view>
#include <system_error>

#include "base/environment/variables.hpp"
#include "base/text/format.hpp"
#include "numa/binding.hpp"
#include "numa/process/fork.hpp"

namespace coset::trace {
namespace {

using environment::value;

/// Two MiB of each rank.
constexpr std::size_t usual_events = 32768;
/// The process as it was started: any other with this memory is a child that was forked.
pid_t const started_as = getpid();
/// Between two readings of both clocks, so that their ratio is right to a tenth of a per mille.
constexpr std::chrono::milliseconds least_span(2);

struct reading {
  std::uint64_t ticks;
  std::chrono::steady_clock::time_point steady;

  static reading now() { return {numa::ticks(), std::chrono::steady_clock::now()}; }
};

std::int64_t nanoseconds(auto duration) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(duration).count();
}

struct wishes {
  bool recorded = false;
  std::string file;      ///< empty: none
  std::size_t capacity;  ///< of a journal
};

struct clocks {
  reading const first = reading::now();
  std::int64_t const begun = nanoseconds(std::chrono::system_clock::now().time_since_epoch());
  std::int64_t ahead = 0;  ///< is the first process's
};

struct job {
  std::optional<std::uint32_t> self;
  std::uint32_t processes = 1;
  std::uint32_t on_one_clock = 1;
};

/// Memory of a journal that is closed.
struct spare_ring {
  std::optional<unsigned> node;
  numa::memory memory;
};

struct kept_journal {
  std::optional<unsigned> node;
  std::unique_ptr<journal> it;
};

struct everything {
  wishes wanted;
  pid_t process = getpid();
  clocks time;
  job among;
  std::uint32_t teams = 0;
  numa::fork_safe_mutex guard;
  std::vector<kept_journal> journals;
  std::vector<kept_journal> of_parent;  ///< in a child: ranks that have none of its threads may still refer to them
  std::vector<spare_ring> spare;
  std::map<std::uint32_t, plan_words> plans;
  std::map<std::uint32_t, std::uint64_t> joint_teams;

  everything();
  void begin_anew_in_child() noexcept;
};

std::optional<std::size_t> number(std::string_view text) {
  std::size_t found = 0;
  auto const [end, fault] = std::from_chars(text.data(), text.data() + text.size(), found);
  return fault == std::errc() && end == text.data() + text.size() ? std::optional(found) : std::nullopt;
}

std::size_t wanted_events() {
  auto const text = value("COSET_TRACE_EVENTS");
  auto const found = number(text);
  if (!text.empty() && (!found || *found == 0 || *found > most_events))
    text::complain(text::format("COSET_TRACE_EVENTS={}: a number from 1 to {}, please; {} events of each rank are kept",
                                text, most_events, usual_events));
  return found && *found > 0 && *found <= most_events ? *found : usual_events;
}

/// By start().
std::atomic<bool> started = false;

void write_at_exit();
void after_fork_in_child();

/// Now, and not after hours. The name that the file will have is known in the end.
void warn_of_unwritable(std::filesystem::path const& file) {
  std::error_code ignored;
  bool const is_folder = std::filesystem::is_directory(file, ignored);
  if (!is_folder && access(file.parent_path().c_str(), W_OK | X_OK) == 0) return;
  text::complain(
      text::format("COSET_TRACE: {} cannot be written: {}", file.string(), std::strerror(is_folder ? EISDIR : errno)));
}

everything::everything() : wanted{false, "", wanted_events()} {
  auto const name = environment::value_to_write("COSET_TRACE");
  if (name.empty()) return;
  if (!numa::ticks_are_allowed()) {
    text::complain("COSET_TRACE: nothing is recorded, since this process may not read the processor's clock");
    return;
  }
  wanted.recorded = true;
  std::error_code ignored;
  wanted.file = std::filesystem::absolute(name, ignored).string();  // programs may go elsewhere
  warn_of_unwritable(wanted.file);
  std::atexit(write_at_exit);
  pthread_atfork(nullptr, nullptr, after_fork_in_child);
}

/// The threads that wrote are not here, and what they have recorded is the parent's to write.
void everything::begin_anew_in_child() noexcept {
  process = getpid();
  std::ranges::move(journals, std::back_inserter(of_parent));
  journals.clear();
  among = {};
}

/// Never destroyed: threads may outlive static objects.
everything& all() {
  static auto& those = *new everything;
  return those;
}

void after_fork_in_child() { all().begin_anew_in_child(); }

/// As the launcher numbers this process, if it does.
std::optional<std::size_t> launched_number() {
  for (environment::name const each :
       {environment::name("OMPI_COMM_WORLD_RANK"), environment::name("PMI_RANK"), environment::name("FLUX_TASK_RANK"),
        environment::name("PALS_RANKID"), environment::name("PMIX_RANK"), environment::name("SLURM_PROCID")}) {
    if (auto const found = number(value(each))) return found;
  }
  return std::nullopt;
}

bool is_child() { return all().process != started_as; }

/// Among the processes of a job: MPI's number, or the launcher's.
std::optional<std::size_t> number_in_job() {
  job const& among = all().among;
  return among.self && among.processes > 1 ? std::optional<std::size_t>(*among.self) : launched_number();
}

/// Before the extension.
std::string with_number(std::filesystem::path name, std::size_t number) {
  std::string const extension = name.extension().string();
  return name.replace_extension(text::format(".{}{}", number, extension)).string();
}

/// "trace.json", or of one process out of several "trace.3.json", of a child "trace.PID.json"; %p is the system's number
/// of the process.
std::string file_of_process() {
  std::string name = all().wanted.file;
  bool told_apart = false;
  if (auto const at = name.find("%p"); at != name.npos) {
    name.replace(at, 2, std::to_string(getpid()));
    told_apart = true;
  }
  if (is_child()) return told_apart ? name : with_number(name, static_cast<std::size_t>(getpid()));
  auto const own = number_in_job();
  return own ? with_number(name, *own) : name;
}

/// Null with errno where that cannot be: a pipe that nobody reads, too, instead of waiting for a reader.
std::FILE* open_to_write(std::string const& name) {
  int const opened = open(name.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NONBLOCK, 0666);
  if (opened < 0) return nullptr;
  fcntl(opened, F_SETFL, 0);  // a reader may be slow
  return fdopen(opened, "w");
}

void write_at_exit() {
  if (getpid() != all().process) return;  // a child that the C library has not made
  try {
    log const found = collect();
    std::string const name = file_of_process();
    std::string const text = json_of(found);
    std::unique_ptr<std::FILE, int (*)(std::FILE*)> to(open_to_write(name), std::fclose);
    bool const written =
        to && std::fwrite(text.data(), 1, text.size(), to.get()) == text.size() && std::fflush(to.get()) == 0;
    if (!written) text::complain(text::format("COSET_TRACE: {} cannot be written: {}", name, std::strerror(errno)));
  } catch (std::exception const& e) {
    text::complain(text::format("COSET_TRACE: the trace cannot be written: {}", e.what()));
  }
}

std::string name_of_host() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

}  // namespace

/// A process that records nothing does not even make room for it.
bool is_on() {
  static bool const asked_for = !environment::value_to_write("COSET_TRACE").empty();
  return (asked_for && all().wanted.recorded) || started.load(std::memory_order_relaxed);
}

void start(std::size_t events) {
  if (!numa::ticks_are_allowed())
    throw error("this process may not read the processor's clock, so nothing is recorded");
  if (events != 0) all().wanted.capacity = std::min(events, most_events);
  started.store(true, std::memory_order_relaxed);  // teams are made later by whoever called this
}

std::uint32_t next_team() {
  std::lock_guard const lock(all().guard);
  return ++all().teams;
}

void name_joint_team(std::uint32_t team, std::uint64_t agreed) {
  std::lock_guard const lock(all().guard);
  all().joint_teams[team] = agreed;
}

void name_part(std::uint32_t part, std::uint32_t of, std::uint64_t agreed) {
  std::lock_guard const lock(all().guard);
  auto const whole = all().joint_teams.find(of);
  std::uint64_t const name_of_whole = whole != all().joint_teams.end() ? whole->second : 0;
  all().joint_teams[part] = (name_of_whole ^ agreed) * 0x9E3779B97F4A7C15u;
}

journal& open_journal(std::uint32_t root_team, rank_t thread, std::optional<unsigned> node) {
  numa::memory ring;
  {
    std::lock_guard const lock(all().guard);
    auto& spare = all().spare;
    auto const fits = std::ranges::find_if(spare, [&](spare_ring const& each) {
      return each.node == node && each.memory.size() == journal::ring_bytes(all().wanted.capacity);
    });
    if (fits != spare.end()) {
      ring = std::move(fits->memory);
      spare.erase(fits);
    }
  }
  if (ring.size() == 0) ring = journal::ring_for(all().wanted.capacity, node);
  auto made = std::make_unique<journal>(std::move(ring));
  made->of.root_team = root_team;
  made->of.thread = thread;
  std::lock_guard const lock(all().guard);
  all().journals.push_back({node, std::move(made)});
  return *all().journals.back().it;
}

void close_journal(journal& of) noexcept try {
  std::lock_guard const lock(all().guard);
  auto const at = std::ranges::find(all().journals, &of, [](kept_journal const& each) { return each.it.get(); });
  if (at == all().journals.end()) return;  // a child's, of its parent
  numa::memory ring = of.close();
  if (ring.size() != 0) all().spare.push_back({at->node, std::move(ring)});
} catch (std::bad_alloc const&) {
  // It stays as it is.
}

void describe_plan(std::uint32_t plan, plan_words words) {
  std::lock_guard const lock(all().guard);
  all().plans.try_emplace(plan, std::move(words));
}

void identify(std::uint32_t process, std::uint32_t processes) {
  std::lock_guard const lock(all().guard);
  all().among.self = process;
  all().among.processes = processes;
}

void align(std::uint32_t processes, std::int64_t ahead) {
  std::lock_guard const lock(all().guard);
  if (processes <= all().among.on_one_clock) return;
  all().among.on_one_clock = processes;
  all().time.ahead = ahead;
}

std::int64_t now() {
  return all().time.begun + nanoseconds(std::chrono::steady_clock::now() - all().time.first.steady);
}

log collect() {
  everything& those = all();
  while (std::chrono::steady_clock::now() - those.time.first.steady < least_span) {
  }
  reading const last = reading::now();
  double const per_tick = static_cast<double>(nanoseconds(last.steady - those.time.first.steady)) /
                          static_cast<double>(last.ticks - those.time.first.ticks);
  // What was recorded before this process's clock was read first cannot be: journals come later.
  auto const since_begin = [&](std::uint64_t ticks) {
    return static_cast<std::uint64_t>(static_cast<double>(ticks - those.time.first.ticks) * per_tick + 0.5);
  };
  std::lock_guard const lock(those.guard);
  log found{
      static_cast<std::uint32_t>(is_child() ? static_cast<std::size_t>(those.process) : number_in_job().value_or(0)),
      those.among.processes,
      name_of_host(),
      those.time.begun + those.time.ahead,
      {},
      those.plans,
      {}};
  for (auto const& [team, agreed] : those.joint_teams)
    found.joint_teams[{found.process, static_cast<std::uint16_t>(team & 0x7fff)}] = agreed;
  for (auto const& kept : those.journals) {
    journal const* const each = kept.it.get();
    auto [events, dropped] = each->read();
    for (event& e : events) {
      e.begin = since_begin(e.begin);
      e.end = since_begin(e.end);
    }
    rank_log& one = found.ranks.emplace_back(rank_log{found.process,
                                                      each->of.root_team,
                                                      each->of.thread,
                                                      each->of.number.load(std::memory_order_relaxed),
                                                      each->of.size.load(std::memory_order_relaxed),
                                                      dropped,
                                                      {},
                                                      std::move(events)});
    for (std::size_t l = 0; l < one.moved.size(); ++l) one.moved[l] = each->moved(static_cast<level>(l));
  }
  std::ranges::sort(found.ranks, {}, [](rank_log const& r) { return std::pair(r.root_team, r.thread); });
  return found;
}

}  // namespace coset::trace
