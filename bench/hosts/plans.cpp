// SPDX-License-Identifier: Apache-2.0
// hosts_plans: how long a process of a large team takes to choose and make its first plan, and how much memory it takes
// for that. Makes what sampled hosts would, each in a process of its own; needs neither the hosts nor MPI.
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <fstream>
#include <string>
#include <system_error>
#include <vector>

#include "coset/operations.hpp"
#include "plan/plan_store.hpp"

namespace coset {
namespace {

struct row {
  rank_t hosts, ranks;
  std::uint64_t all() const { return std::uint64_t{hosts} * ranks; }
};

struct figures {
  double seconds = 0;        ///< choosing, making and binding
  double again = 0;          ///< another length, for which the same schedule serves
  std::size_t bytes = 0;     ///< by which the process grew at most meanwhile
  std::size_t kept = 0;      ///< … and is larger afterwards
  std::size_t messages = 0;  ///< that its ranks send
  char schedule[200] = {};
};

planning::team_facts facts_of(row const& of, rank_t carriers, std::size_t own) {
  planning::team_facts facts;
  facts.ranks = static_cast<rank_t>(of.all());
  facts.node_leaders.assign(of.ranks, 0);
  for (rank_t h = 0; h < of.hosts; ++h) {
    facts.spread.domains.push_back(h * of.ranks);
    facts.spread.processes.push_back({h * of.ranks, std::min(of.ranks, carriers)});
  }
  facts.spread.domains.push_back(facts.ranks);
  facts.spread.own = own;
  facts.spread.network = choice::usual_network;
  return facts;
}

/// In KiB: VmHWM, the most there has been, or VmRSS.
std::size_t memory(std::string const& what) {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    if (word != what) continue;
    std::size_t kib = 0;
    status >> kib;
    return kib * 1024;
  }
  return 0;
}

template <class Work>
double seconds_of(Work work) {
  auto const begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

figures measured(row const& of, rank_t carriers, std::size_t host, std::size_t bytes) {
  planning::plan_store plans(facts_of(of, carriers, host));
  auto const sum_of = [](std::size_t count) {
    return detail::call{.what = verb::allreduce, .count = count, .reduction = &detail::table_of<float, plus>()};
  };
  figures f;
  std::size_t const before = memory("VmRSS:"), most_before = memory("VmHWM:");
  planning::plan_store::pointer plan, other;
  f.seconds = seconds_of([&] { plan = plans.of_call(sum_of(bytes / sizeof(float))); });
  f.bytes = std::max(memory("VmHWM:"), most_before) - before;
  f.kept = memory("VmRSS:") - std::min(before, memory("VmRSS:"));
  f.again = seconds_of([&] { other = plans.of_call(sum_of(bytes / sizeof(float) + 64)); });
  for (auto const& p : plan->code->of) {
    for (auto const& i : p.code) f.messages += i.what == program::action::send;
  }
  plan->words.choice.substr(0, sizeof f.schedule - 1).copy(f.schedule, sizeof f.schedule - 1);
  return f;
}

/// In a process of its own, so that no row takes what another has left.
figures measured_apart(row const& of, rank_t carriers, std::size_t host, std::size_t bytes) {
  int ends[2];
  if (pipe(ends) != 0) throw std::system_error(errno, std::generic_category(), "pipe");
  pid_t const child = fork();
  if (child == 0) {
    figures const f = measured(of, carriers, host, bytes);
    bool const told = write(ends[1], &f, sizeof f) == sizeof f;
    _exit(told ? 0 : 1);
  }
  close(ends[1]);
  figures f;
  bool const heard = read(ends[0], &f, sizeof f) == sizeof f;
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (!heard || status != 0) throw std::runtime_error(fmt::format("{} x {} cannot be planned", of.hosts, of.ranks));
  return f;
}

constexpr row rows[]{{2, 32},   {8, 8},     {32, 32},    {64, 32},    {64, 64},     {128, 128},
                     {250, 64}, {997, 128}, {1000, 128}, {4096, 128}, {10'000, 128}};

int main(int number, char** words) {
  CLI::App app("What the first plan of a team over many hosts costs each process");
  std::vector<std::size_t> sizes{8, 65536, 1024 * 1024};
  rank_t carriers = 8;
  app.add_option("--bytes", sizes, "Lengths of the vector")->delimiter(',')->capture_default_str();
  app.add_option("--carriers", carriers, "Ranks of each host that send and receive")->capture_default_str();
  CLI11_PARSE(app, number, words);
  fmt::print("| hosts x ranks | P | bytes | plan, ms | next length, us | memory, MiB (kept) | messages | schedule |\n");
  fmt::print("|---|---|---|---|---|---|---|---|\n");
  for (std::size_t const bytes : sizes) {
    for (row const& of : rows) {
      figures worst;
      for (std::size_t const host : {std::size_t{0}, std::size_t{of.hosts / 3}, std::size_t{of.hosts} - 1}) {
        figures const f = measured_apart(of, carriers, host, bytes);
        std::size_t const most = std::max(worst.bytes, f.bytes), kept = std::max(worst.kept, f.kept);
        if (f.seconds > worst.seconds) worst = f;
        worst.bytes = most;
        worst.kept = kept;
      }
      fmt::print("| {} x {} | {} | {} | {:.2f} | {:.0f} | {:.1f} ({:.1f}) | {} | `{}` |\n", of.hosts, of.ranks,
                 of.all(), bytes, worst.seconds * 1e3, worst.again * 1e6, double(worst.bytes) / (1 << 20),
                 double(worst.kept) / (1 << 20), worst.messages, worst.schedule);
    }
  }
  return 0;
}

}  // namespace
}  // namespace coset

int main(int number, char** words) { return coset::main(number, words); }
