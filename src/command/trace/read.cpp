// SPDX-License-Identifier: Apache-2.0
#include "command/trace/read.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "base/text/fields.hpp"
#include "base/text/file.hpp"
#include "coset/error.hpp"

namespace coset::cli {
namespace {

using text::field;
using trace::event;
using trace::log;
using trace::rank_log;

/// Thirty years at most, so that sums of times fit.
std::uint64_t nanoseconds(field const& microseconds) {
  constexpr double most = 1e15;
  double const value = microseconds.number();
  if (!(value >= 0 && value <= most))
    microseconds.refuse(fmt::format("{} is not a number from 0 to {:g}", value, most));
  return static_cast<std::uint64_t>(std::llround(value * 1000));
}

template <class Number>
Number in_base(int base, field const& from) {
  std::string const text = from.text();
  Number found = 0;
  auto const [end, failure] = std::from_chars(text.data(), text.data() + text.size(), found, base);
  if (failure != std::errc() || end != text.data() + text.size())
    from.refuse(fmt::format("'{}' is not a whole number in base {} that fits", text, base));
  return found;
}

std::uint64_t hexadecimal(field const& from) { return in_base<std::uint64_t>(16, from); }

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

trace::kind kind_in(field const& from) {
  auto const name = from.text();
  auto const at = std::ranges::find(trace::kind_names, name);
  if (at == trace::kind_names.end()) from.refuse(fmt::format("there is no kind of event '{}'", name));
  return static_cast<trace::kind>(at - trace::kind_names.begin());
}

template <class Number>
Number whole_or(Number otherwise, field const& from, char const* key) {
  return from.has(key) ? from[key].whole<Number>() : otherwise;
}

event event_in(field const& from, plan_numbers& plans) {
  field const about = from["args"];
  event e{};
  e.begin = nanoseconds(from["ts"]);
  e.end = e.begin + (from.has("dur") ? nanoseconds(from["dur"]) : 0);
  e.what = kind_in(from["cat"]);
  e.of.plan = plans.of({about["operation"].text(), about["schedule"].text()}) & 0x7fffffff;
  e.of.tag = hexadecimal(about["tag"]);
  e.of.number = about["number"].whole<std::uint32_t>();
  e.team = about["team"].whole(0x7fff) & 0x7fff;
  e.joint = about["joint"].truth() ? 1 : 0;
  e.channel = about["channel"].whole<std::uint8_t>();
  e.of.failed = about.has("failed") && about["failed"].truth() ? 1 : 0;
  e.step = whole_or(std::uint16_t{0}, about, "step");
  e.peer = whole_or(event::nobody, about, "peer");
  e.signal = whole_or(std::uint32_t{0}, about, "signal");
  e.data.bytes = whole_or(std::uint64_t{0}, about, "bytes");
  e.data.moved = whole_or(std::uint64_t{0}, about, "moved");
  e.sources = whole_or(std::uint16_t{0}, about, "sources");
  return e;
}

rank_log rank_in(field const& from) {
  rank_log rank{from["process"].whole<std::uint32_t>(),
                from["team"].whole<std::uint32_t>(),
                from["thread"].whole<rank_t>(),
                from["rank"].whole<rank_t>(),
                from["ranks"].whole<rank_t>(),
                from["dropped"].whole<std::uint64_t>(),
                {},
                {}};
  for (std::size_t l = 0; l < rank.moved.size(); ++l)
    rank.moved[l] = from["moved"][std::string(trace::level_names[l]).c_str()].whole<std::uint64_t>();
  return rank;
}

/// Since 1970.
std::int64_t begin_in(field const& from) {
  auto const begin = in_base<std::int64_t>(10, from);
  if (begin < 0) from.refuse(fmt::format("{} is negative", begin));
  return begin;
}

log log_in(field const& all) {
  field const about = all["otherData"];
  if (about["coset_trace"].whole<unsigned>() != 1) about["coset_trace"].refuse("this coset reads version 1");
  log found{about["process"].whole<std::uint32_t>(),
            about["processes"].whole<std::uint32_t>(),
            about["host"].text(),
            begin_in(about["begin_ns"]),
            {},
            {},
            {}};
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t> by_track;  // group and thread
  for (field const& each : about["ranks"].elements()) {
    rank_log const& rank = found.ranks.emplace_back(rank_in(each));
    by_track[{each["pid"].whole<std::uint32_t>(), rank.thread}] = found.ranks.size() - 1;
  }
  plan_numbers plans;
  for (field const& each : all["traceEvents"].elements()) {
    std::string const shape = each["ph"].text();
    if (shape != "X" && shape != "i") continue;
    auto const track = each["tid"].whole<std::uint32_t>();
    auto const of = by_track.find({each["pid"].whole<std::uint32_t>(), track / 1000});
    if (of == by_track.end()) each["tid"].refuse(fmt::format("{} is of no rank that the file lists", track));
    rank_log& rank = found.ranks[of->second];
    event const& e = rank.events.emplace_back(event_in(each, plans));
    if (e.joint != 0)
      found.joint_teams[{rank.process, static_cast<std::uint16_t>(e.team)}] = hexadecimal(each["args"]["agreed"]);
  }
  for (rank_log& rank : found.ranks) std::ranges::stable_sort(rank.events, {}, &event::end);
  found.plans = plans.words();
  return found;
}

}  // namespace

log trace_in(std::string text) {
  text::json_document const all(std::move(text));
  return log_in(field(all));
}

log read_trace(std::string const& file) {
  auto text = text::content_of<error>(file, fmt::format("'{}'", file), std::numeric_limits<std::uint64_t>::max());
  try {
    return trace_in(std::move(text));
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
