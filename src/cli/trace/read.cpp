// SPDX-License-Identifier: Apache-2.0
#include "cli/trace/read.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <iterator>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>

#include "coset/error.hpp"

namespace coset::cli {
namespace {

using nlohmann::json;
using trace::event;
using trace::log;
using trace::rank_log;

std::uint64_t nanoseconds(json const& microseconds) {
  return static_cast<std::uint64_t>(std::llround(microseconds.get<double>() * 1000));
}

std::uint64_t hexadecimal(std::string const& text) {
  std::uint64_t found = 0;
  std::from_chars(text.data(), text.data() + text.size(), found, 16);
  return found;
}

/// Numbers of their own, as those of several processes would meet.
class plan_numbers {
 public:
  std::uint32_t of(trace::plan_words const& words) {
    return numbers_.try_emplace(words, static_cast<std::uint32_t>(numbers_.size())).first->second;
  }
  std::map<std::uint32_t, trace::plan_words> words() const {
    std::map<std::uint32_t, trace::plan_words> all;
    for (auto const& [words, number] : numbers_) all[number] = words;
    return all;
  }

 private:
  std::map<trace::plan_words, std::uint32_t> numbers_;
};

trace::kind kind_named(std::string const& name) {
  auto const at = std::ranges::find(trace::kind_names, name);
  if (at == trace::kind_names.end()) throw error(fmt::format("there is no kind of event '{}'", name));
  return static_cast<trace::kind>(at - trace::kind_names.begin());
}

event event_in(json const& from, plan_numbers& plans) {
  json const& about = from.at("args");
  event e{};
  e.begin = nanoseconds(from.at("ts"));
  e.end = e.begin + (from.contains("dur") ? nanoseconds(from.at("dur")) : 0);
  e.what = kind_named(from.at("cat"));
  e.of.plan = plans.of({about.at("operation"), about.at("schedule")}) & 0x7fffffff;
  e.of.tag = hexadecimal(about.at("tag"));
  e.of.number = about.at("number");
  e.team = about.at("team").get<std::uint16_t>() & 0x7fff;
  e.joint = about.at("joint").get<bool>() ? 1 : 0;
  e.channel = about.at("channel");
  e.of.failed = about.value("failed", false) ? 1 : 0;
  e.step = about.value("step", std::uint16_t{0});
  e.peer = about.value("peer", event::nobody);
  e.signal = about.value("signal", 0u);
  e.data.bytes = about.value("bytes", std::uint64_t{0});
  e.data.moved = about.value("moved", std::uint64_t{0});
  e.sources = about.value("sources", std::uint16_t{0});
  return e;
}

rank_log rank_in(json const& from) {
  rank_log rank{from.at("process"),
                from.at("team"),
                from.at("thread"),
                from.at("rank"),
                from.at("ranks"),
                from.at("dropped"),
                {},
                {}};
  for (std::size_t l = 0; l < rank.moved.size(); ++l)
    rank.moved[l] = from.at("moved").at(std::string(trace::level_names[l]));
  return rank;
}

log log_in(json const& all) {
  json const& about = all.at("otherData");
  log found{about.at("process"),
            about.at("processes"),
            about.at("host"),
            std::stoll(about.at("begin_ns").get<std::string>()),
            {},
            {},
            {}};
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t> by_track;  // group and thread
  for (json const& each : about.at("ranks")) {
    rank_log const& rank = found.ranks.emplace_back(rank_in(each));
    by_track[{each.at("pid"), rank.thread}] = found.ranks.size() - 1;
  }
  plan_numbers plans;
  for (json const& each : all.at("traceEvents")) {
    std::string const shape = each.at("ph");
    if (shape != "X" && shape != "i") continue;
    std::uint32_t const track = each.at("tid");
    rank_log& rank = found.ranks.at(by_track.at({each.at("pid"), track / 1000}));
    event const& e = rank.events.emplace_back(event_in(each, plans));
    if (e.joint != 0)
      found.joint_teams[{rank.process, static_cast<std::uint16_t>(e.team)}] = hexadecimal(each.at("args").at("agreed"));
  }
  for (rank_log& rank : found.ranks) std::ranges::stable_sort(rank.events, {}, &event::end);
  found.plans = plans.words();
  return found;
}

}  // namespace

log trace_in(std::string const& text) { return log_in(json::parse(text)); }

log read_trace(std::string const& file) {
  std::ifstream from(file);
  if (!from) throw error(fmt::format("cannot read '{}'", file));
  try {
    return trace_in(std::string(std::istreambuf_iterator<char>(from), {}));
  } catch (std::exception const& e) {
    throw error(fmt::format("'{}' is no trace that coset has written: {}", file, e.what()));
  }
}

log merged(std::vector<log> const& all) {
  log together = all.front();
  together.ranks.clear();
  together.joint_teams.clear();
  for (log const& one : all) {
    together.begin = std::min(together.begin, one.begin);
    together.processes = std::max(together.processes, one.processes);
    if (one.host != together.host) together.host = "several hosts";
  }
  together.processes = std::max(together.processes, static_cast<std::uint32_t>(all.size()));
  plan_numbers plans;
  std::set<std::uint32_t> processes;
  for (log const& one : all) {
    if (!processes.insert(one.process).second)
      throw error(fmt::format("two of these files are of process {}", one.process));
    together.joint_teams.insert(one.joint_teams.begin(), one.joint_teams.end());
    auto const later = static_cast<std::uint64_t>(one.begin - together.begin);
    for (rank_log rank : one.ranks) {
      for (event& e : rank.events) {
        e.begin += later;
        e.end += later;
        e.of.plan = plans.of(one.plans.at(e.of.plan)) & 0x7fffffff;
      }
      together.ranks.push_back(std::move(rank));
    }
  }
  together.plans = plans.words();
  std::ranges::stable_sort(together.ranks, {},
                           [](rank_log const& r) { return std::tuple(r.process, r.root_team, r.thread); });
  return together;
}

}  // namespace coset::cli
