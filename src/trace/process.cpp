// SPDX-License-Identifier: Apache-2.0
#include "trace/process.hpp"

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
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <system_error>

#include "environment/variables.hpp"
#include "numa/binding.hpp"
#include "text/format.hpp"

namespace coset::trace {
namespace {

using environment::value;

/// Two MiB of each rank.
constexpr std::size_t usual_events = 32768, most_events = std::size_t{1} << 26;
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
};

struct everything {
  wishes wanted;
  pid_t const process = getpid();
  clocks time;
  job among;
  std::uint32_t teams = 0;
  std::mutex guard;
  std::vector<std::unique_ptr<journal>> journals;
  std::map<std::uint32_t, plan_words> plans;

  everything();
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

everything::everything() : wanted{false, "", wanted_events()} {
  if (value("COSET_TRACE").empty()) return;
  if (!numa::ticks_are_allowed()) {
    text::complain("COSET_TRACE: nothing is recorded, since this process may not read the processor's clock");
    return;
  }
  wanted.recorded = true;
  std::error_code ignored;
  wanted.file = std::filesystem::absolute(value("COSET_TRACE"), ignored).string();  // programs may go elsewhere
  std::atexit(write_at_exit);
}

/// Never destroyed: threads may outlive static objects.
everything& all() {
  static auto& those = *new everything;
  return those;
}

/// As the launcher numbers this process, if it does.
std::optional<std::size_t> launched_number() {
  for (environment::name const each :
       {environment::name("OMPI_COMM_WORLD_RANK"), environment::name("PMI_RANK"), environment::name("SLURM_PROCID")}) {
    if (auto const found = number(value(each))) return found;
  }
  return std::nullopt;
}

/// "trace.json", or of one process out of several "trace.3.json"; %p is the system's number of the process.
std::string file_of_process() {
  std::string name = all().wanted.file;
  if (auto const at = name.find("%p"); at != name.npos) name.replace(at, 2, std::to_string(getpid()));
  auto const own = launched_number();
  if (!own && all().among.processes == 1) return name;
  std::filesystem::path path(name);
  std::string const extension = path.extension().string();
  return path.replace_extension(text::format(".{}{}", own ? *own : all().among.self.value_or(0), extension)).string();
}

void write_at_exit() {
  if (getpid() != all().process) return;  // a child, which has its parent's journals
  try {
    log const found = collect();
    std::string const name = file_of_process();
    std::string const text = json_of(found);
    std::unique_ptr<std::FILE, int (*)(std::FILE*)> to(std::fopen(name.c_str(), "w"), std::fclose);
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
  static bool const asked_for = !value("COSET_TRACE").empty();
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

journal& open_journal(std::uint32_t root_team, rank_t thread, unsigned node) {
  auto made = std::make_unique<journal>(all().wanted.capacity, node);
  made->of.root_team = root_team;
  made->of.thread = thread;
  std::lock_guard const lock(all().guard);
  all().journals.push_back(std::move(made));
  return *all().journals.back();
}

void describe_plan(std::uint32_t plan, plan_words words) {
  std::lock_guard const lock(all().guard);
  all().plans.try_emplace(plan, std::move(words));
}

void identify(std::uint32_t process, std::uint32_t processes, std::int64_t ahead) {
  std::lock_guard const lock(all().guard);
  if (processes <= all().among.processes) return;  // the largest team's is the clock that most files have in common
  all().among = {process, processes};
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
  log found{those.among.self ? *those.among.self : static_cast<std::uint32_t>(launched_number().value_or(0)),
            those.among.processes,
            name_of_host(),
            those.time.begun + those.time.ahead,
            {},
            those.plans};
  for (auto const& each : those.journals) {
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
