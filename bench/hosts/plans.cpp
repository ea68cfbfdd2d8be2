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
#include "planning/plan/plan_store.hpp"

namespace coset::inline COSET_ABI {
namespace {

struct row {
  rank_t hosts, ranks;
  bool uneven = false;  ///< every other host has one rank fewer
  rank_t first(rank_t host) const { return host * ranks - (uneven ? host / 2 : 0); }
  std::uint64_t all() const { return first(hosts); }
};

struct figures {
  double seconds = 0;        ///< choosing, making and binding
  double again = 0;          ///< another length, for which the same schedule serves
  std::size_t bytes = 0;     ///< by which the process grew at most meanwhile
  std::size_t kept = 0;      ///< … and is larger afterwards
  std::size_t messages = 0;  ///< that its ranks send
  std::size_t call_bytes = 0;
  char schedule[200] = {};
};

planning::team_facts facts_of(row const& of, rank_t carriers, std::size_t own) {
  planning::team_facts facts;
  facts.ranks = static_cast<rank_t>(of.all());
  auto const host = static_cast<rank_t>(own);
  facts.node_leaders.assign(of.first(host + 1) - of.first(host), 0);
  for (rank_t h = 0; h < of.hosts; ++h) {
    facts.spread.domains.push_back(of.first(h));
    facts.spread.processes.push_back({of.first(h), std::min(of.first(h + 1) - of.first(h), carriers)});
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

/// What is planned: `bytes` of the whole vector.
struct planned {
  verb what;
  std::size_t bytes;
  bool commutes = true, equal = true;
};

/// A call, and what it refers to.
struct made_call {
  std::vector<std::size_t> counts = {};
  detail::call call = {};
};

detail::reduction_table const& sums(bool commute) {
  static auto const in_order = [] {
    auto one = detail::table_of<float, plus>();
    one.commutative = false;
    return one;
  }();
  return commute ? detail::table_of<float, plus>() : in_order;
}

/// Vectors that are made of ranks' pieces have an element for each rank at least.
made_call call_of(planned const& p, row const& of, std::size_t longer) {
  bool const copies = detail::only_moves(p.what);
  std::size_t const count = p.bytes / sizeof(float) + longer;
  made_call made;
  made.call = {.what = p.what,
               .count = p.what == verb::barrier ? 0 : count,
               .reduction = copies ? &detail::copy_of<float>() : &sums(p.commutes)};
  if (p.what != verb::allgather && p.what != verb::reduce_scatter) return made;
  std::size_t const each = std::max<std::size_t>(count / of.all(), 1) + (longer > 0 ? 1 : 0);
  made.call.count = each * of.all();
  if (p.equal) return made;
  for (std::size_t r = 0; r < of.all(); ++r) made.counts.push_back(r % 2 == 0 ? each + 1 : each - 1);
  if (of.all() % 2 != 0) made.counts.back() = each;
  made.call.counts = made.counts;
  return made;
}

figures measured(row const& of, rank_t carriers, std::size_t host, planned const& p) {
  planning::plan_store plans(facts_of(of, carriers, host));
  auto const call = call_of(p, of, 0), longer = call_of(p, of, 64);
  figures f;
  f.call_bytes = call.call.count * sizeof(float);
  std::size_t const before = memory("VmRSS:"), most_before = memory("VmHWM:");
  planning::plan_store::pointer plan, other;
  f.seconds = seconds_of([&] { plan = plans.of_call(call.call); });
  f.bytes = std::max(memory("VmHWM:"), most_before) - before;
  f.kept = memory("VmRSS:") - std::min(before, memory("VmRSS:"));
  f.again = seconds_of([&] { other = plans.of_call(longer.call); });
  for (auto const& program : plan->code->of) {
    for (auto const& i : program.code) f.messages += i.what == program::action::send;
  }
  plan->words->choice.substr(0, sizeof f.schedule - 1).copy(f.schedule, sizeof f.schedule - 1);
  return f;
}

/// In a process of its own, so that no row takes what another has left.
figures measured_apart(row const& of, rank_t carriers, std::size_t host, planned const& p) {
  int ends[2];
  if (pipe(ends) != 0) throw std::system_error(errno, std::generic_category(), "pipe");
  pid_t const child = fork();
  if (child == 0) {
    figures const f = measured(of, carriers, host, p);
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

/// The worst of some hosts, which need not all do the same.
figures worst_of(row const& of, rank_t carriers, planned const& p) {
  figures worst;
  for (std::size_t const host : {std::size_t{0}, std::size_t{of.hosts / 3}, std::size_t{of.hosts} - 1}) {
    figures const f = measured_apart(of, carriers, host, p);
    std::size_t const most = std::max(worst.bytes, f.bytes), kept = std::max(worst.kept, f.kept);
    if (f.seconds > worst.seconds) worst = f;
    worst.bytes = most;
    worst.kept = kept;
  }
  return worst;
}

verb verb_of(std::string const& name) {
  for (verb const v : all_verbs()) {
    if (name_of(v) == name) return v;
  }
  throw std::runtime_error("no verb is called " + name);
}

int main(int number, char** words) try {
  CLI::App app("What the first plan of a team over many hosts costs each process");
  std::vector<std::string> verbs{"allreduce"};
  std::vector<std::size_t> sizes{8, 65536, 1024 * 1024};
  rank_t carriers = 8, least = 2;
  bool in_order = false, unequal = false, uneven = false;
  app.add_option("--verbs", verbs, "What is planned")->delimiter(',')->capture_default_str();
  app.add_option("--bytes", sizes, "Lengths of the vector")->delimiter(',')->capture_default_str();
  app.add_option("--carriers", carriers, "Ranks of each host that send and receive")->capture_default_str();
  app.add_option("--least", least, "Leave out teams of fewer hosts")->capture_default_str();
  app.add_flag("--in-order", in_order, "Operations that do not commute");
  app.add_flag("--unequal", unequal, "Pieces of ranks of different lengths");
  app.add_flag("--uneven", uneven, "Every other host has one rank fewer");
  CLI11_PARSE(app, number, words);
  fmt::print(
      "| verb | hosts x ranks | P | bytes | plan, ms | next length, us | memory, MiB (kept) | messages | schedule |\n");
  fmt::print("|---|---|---|---|---|---|---|---|---|\n");
  for (std::string const& name : verbs) {
    for (std::size_t const bytes : sizes) {
      for (row of : rows) {
        of.uneven = uneven;
        if (of.hosts < least) continue;
        figures const f = worst_of(of, carriers, {verb_of(name), bytes, !in_order, !unequal});
        fmt::print("| {} | {} x {} | {} | {} | {:.2f} | {:.0f} | {:.1f} ({:.1f}) | {} | `{}` |\n", name, of.hosts,
                   of.ranks, of.all(), f.call_bytes, f.seconds * 1e3, f.again * 1e6, double(f.bytes) / (1 << 20),
                   double(f.kept) / (1 << 20), f.messages, f.schedule);
        std::fflush(stdout);
      }
    }
  }
  return 0;
} catch (std::exception const& why) {
  fmt::print(stderr, "{}\n", why.what());
  return 1;
}

}  // namespace
}  // namespace coset

int main(int number, char** words) { return coset::main(number, words); }
