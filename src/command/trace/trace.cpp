// SPDX-License-Identifier: Apache-2.0
// `coset trace`: what each rank does in a collective, and what it waits for.
#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <memory>
#include <numeric>
#include <span>

#include "command/commands.hpp"
#include "command/formats.hpp"
#include "command/machine_options.hpp"
#include "command/measure/harness/workload.hpp"
#include "command/numbers.hpp"
#include "command/output.hpp"
#include "command/trace/read.hpp"
#include "command/trace/summary.hpp"
#include "coset/coset.hpp"
#include "runtime/trace/process.hpp"

namespace coset::cli {
namespace {

struct trace_arguments {
  std::string verb = "allreduce", plan, output = "trace.json", summarised;
  std::vector<std::string> merged;
  std::uint64_t bytes = 64 << 10;
  std::size_t iterations = 100, events = 0;
  rank_t ranks = 0;
  formats as_what;  ///< of a summary
};

/// Inputs are rewritten and results read, as programs do. Returns how many items were wrong.
std::size_t play(team& threads, plan<float> const& chosen, measure::workload const& work, std::size_t iterations) {
  measure::problem const& p = work.shape();
  std::vector<std::size_t> wrong(p.ranks);
  threads.run([&](member& me) {
    auto const length = [](measure::items which) { return which.end - which.begin; };
    std::byte* const output = detail::shares_result(p.what) ? work.shared_output() : work.output(me.rank());
    std::span const in(reinterpret_cast<float const*>(work.input(me.rank())), length(gives(p, me.rank())));
    std::span const out(reinterpret_cast<float*>(output), length(gets(p, me.rank())));
    bool const stays = me.rank() == 0 && detail::spreads_whole(p.what);
    for (std::size_t k = 0; k < iterations; ++k) {
      work.rewrite(me.rank(), k);
      chosen.execute(me, in, out);
      wrong[me.rank()] += work.wrong(me.rank(), stays ? work.input(0) : output, k);
    }
  });
  return std::accumulate(wrong.begin(), wrong.end(), std::size_t{0});
}

void write(trace::log const& found, std::string const& file) {
  output_file(file).write(trace::json_of(found));
  std::cout << summary_of(found) << fmt::format("in {}: open it in https://ui.perfetto.dev\n", file);
}

void trace_collective(trace_arguments const& a) {
  auto const machine = machine_to_measure();
  require_room_for(a.ranks, machine);
  output_file const writable(a.output);  // refused now, not in the end
  measure::problem p{.ranks = a.ranks != 0 ? a.ranks : machine.cores(), .what = verb_named(a.verb)};
  p.count = detail::is_barrier(p.what) ? 0 : a.bytes / p.element_bytes();
  if (detail::is_of_pieces(p.what)) p.count = std::max<std::size_t>(p.count / p.ranks, 1) * p.ranks;
  trace::start(a.events);
  std::size_t wrong = 0;
  {
    team threads({.ranks = p.ranks});
    auto const chosen = make_plan<float>(threads, p.what, p.count, plus{}, plan_named(a.plan));
    wrong = play(threads, chosen, measure::workload(p), a.iterations);
  }
  write(trace::collect(), a.output);
  if (wrong == 0) return;
  std::cout << fmt::format("{} items were WRONG\n", wrong);
  throw CLI::RuntimeError(1);
}

void run_trace(trace_arguments const& a) {
  if (!a.summarised.empty()) {
    auto const read = read_trace(a.summarised);
    if (a.as_what.json)
      std::cout << nlohmann::ordered_json{{"coset_trace_summary", 1}, {"ranks", shares_of(read).as_json()}}.dump(1)
                << '\n';
    else
      std::cout << (a.as_what.is_text() ? summary_of(read) : a.as_what.of(shares_of(read), a.summarised));
  } else if (!a.merged.empty()) {
    std::vector<trace::log> all;
    for (auto const& file : a.merged) all.push_back(read_trace(file));
    write(merged(all), a.output);
  } else {
    trace_collective(a);
  }
}

/// A view has no plan of its own, and an exclusive scan is as the other.
bool is_traced(detail::verb_row const& row) {
  return row.in != detail::results::view && !detail::is_exclusive(row.what);
}

std::vector<std::string> traced_verbs() {
  std::vector<std::string> names;
  for (verb const what : all_verbs())
    if (is_traced(detail::row_of(what))) names.emplace_back(name_of(what));
  return names;
}

}  // namespace

void add_trace(CLI::App& app) {
  auto const a = std::make_shared<trace_arguments>();
  auto& command = *app.add_subcommand("trace", "Show what each rank does in a collective and what it waits for");
  command.add_option("verb", a->verb, "The collective")->check(one_of(traced_verbs()))->capture_default_str();
  auto* const size = command.add_option("size", a->bytes, "Size: 8, 4K, 1M; default: 64K")->transform(byte_size());
  auto* const old_size = command.add_option("-b,--bytes", a->bytes, "The size, in a form that goes away")
                             ->transform(byte_size())
                             ->excludes(size);
  command.add_option("-n,--iterations", a->iterations, "Calls")
      ->check(whole_number(1, 10'000'000))
      ->capture_default_str();
  add_ranks(command, a->ranks, "Threads; default: one per core");
  command.add_option("--plan", a->plan,
                     "The plan: algorithm/storage/segment, \"direct/zero_copy\"; default: the library's choice");
  command
      .add_option("--events", a->events, "So many of each rank's latest events are kept; default: COSET_TRACE_EVENTS")
      ->check(whole_number(1, trace::most_events));
  command.add_option("-o,--output", a->output, "The trace, for https://ui.perfetto.dev or chrome://tracing")
      ->capture_default_str();
  auto* const summary = command.add_option("--summary", a->summarised, "Instead, tell what is in this trace");
  a->as_what.add_to(command, "With --summary: where the time of each rank went, as CSV");
  for (char const* const format : {"--json", "--csv", "--html"}) command.get_option(format)->needs(summary);
  auto* const merge =
      command.add_option("--merge", a->merged,
                         "Instead, make one trace of those that the processes of a job have written with COSET_TRACE");
  merge->excludes(summary);
  for (auto const* const other : {"verb", "size", "--bytes", "--iterations", "--ranks", "--plan", "--events"}) {
    summary->excludes(command.get_option(other));
    merge->excludes(command.get_option(other));
  }
  summary->excludes(command.get_option("--output"));
  command.footer("Floats are added up. Any program that uses the library writes such a trace with COSET_TRACE=FILE.");
  command.callback([a, old_size] {
    if (!old_size->empty()) note_old_form("trace", a->verb, {std::to_string(a->bytes)});
    run_trace(*a);
  });
}

}  // namespace coset::cli
