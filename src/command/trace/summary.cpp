// SPDX-License-Identifier: Apache-2.0
#include "command/trace/summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <vector>

#include "command/bytes.hpp"

namespace coset::cli {
namespace {

using trace::event;
using trace::kind;
using trace::log;
using trace::rank_log;

double length(event const& e) { return static_cast<double>(e.end - e.begin); }

/// Where one rank's time went, in ns.
struct times {
  std::size_t operations = 0;
  double whole = 0, inside = 0, wait = 0, fold = 0, copy = 0, message = 0;

  double outside() const { return std::max(whole - inside, 0.0); }
  double other() const { return std::max(inside - wait - fold - copy - message, 0.0); }
};

/// Started operations go on while their rank does something else: of these, only work counts, and no waiting.
times times_of(rank_log const& rank) {
  times t;
  std::uint64_t begin = UINT64_MAX, end = 0;
  for (event const& e : rank.events) {
    begin = std::min(begin, e.begin);
    end = std::max(end, e.end);
    bool const blocks = e.channel == 0;
    switch (e.what) {
      case kind::operation:
        ++t.operations;
        if (blocks) t.inside += length(e);
        continue;
      case kind::wait:
        if (blocks) t.wait += length(e);
        continue;
      case kind::fold:
        t.fold += length(e);
        break;
      case kind::copy:
        t.copy += length(e);
        break;
      case kind::post:
        continue;
      case kind::send:
      case kind::receive:
      case kind::hand_over:
      case kind::combine:
        if (!blocks && (e.what == kind::receive || e.what == kind::combine)) continue;
        t.message += length(e);
    }
    if (!blocks) t.inside += length(e);
  }
  if (end > begin) t.whole = static_cast<double>(end - begin);
  return t;
}

/// Ranks by their numbers, and by team and process where there are several.
class cast {
 public:
  explicit cast(log const& of) : log_(of) {
    std::set<std::uint32_t> processes;
    std::set<std::pair<std::uint32_t, std::uint32_t>> teams;
    for (rank_log const& rank : of.ranks) {
      if (rank.events.empty()) continue;
      processes.insert(rank.process);
      teams.insert({rank.process, rank.root_team});
      for (event const& e : rank.events)
        if (e.what == kind::post) by_number_[{team_of(e, rank, of), e.peer}] = &rank;
    }
    several_processes_ = processes.size() > 1;
    several_teams_ = teams.size() > processes.size();
  }

  bool has_several_processes() const { return several_processes_; }
  bool has_several_teams() const { return several_teams_; }

  /// "rank 3", "rank 3 of team 2", "rank 3 of team 2 of process 1".
  std::string name(rank_log const& rank) const {
    return fmt::format("rank {}", rank.number) + (several_teams_ ? fmt::format(" of team {}", rank.root_team) : "") +
           (several_processes_ ? fmt::format(" of process {}", rank.process) : "");
  }
  /// Null if it has left no trace in this team.
  rank_log const* peer_of(event const& e, rank_log const& rank) const {
    auto const found = by_number_.find({team_of(e, rank, log_), e.peer});
    return found != by_number_.end() ? found->second : nullptr;
  }

 private:
  log const& log_;
  std::map<std::pair<trace::team_name, rank_t>, rank_log const*> by_number_;
  bool several_processes_ = false, several_teams_ = false;
};

/// Where the time of each rank went.
table shares(log const& of, cast const& who) {
  table made;
  if (who.has_several_processes()) made.with(as::numbers, {"process"});
  if (who.has_several_teams()) made.with(as::numbers, {"team"});
  made.with(as::numbers, {"rank", "operations"})
      .with(as::time, {"time=time_ns"})
      .with({.unit = "%", .digits = 0}, {"outside", "wait", "fold", "copy", "message", "other"});
  for (rank_log const& rank : of.ranks) {
    times const t = times_of(rank);
    if (t.operations == 0) continue;
    auto const share = [&](double part) { return t.whole > 0 ? 100 * std::min(part / t.whole, 1.0) : 0.0; };
    made.add({{"process", rank.process},
              {"team", rank.root_team},
              {"rank", rank.number},
              {"operations", t.operations},
              {"time_ns", t.whole},
              {"outside", share(t.outside())},
              {"wait", share(t.wait)},
              {"fold", share(t.fold)},
              {"copy", share(t.copy)},
              {"message", share(t.message)},
              {"other", share(t.other())}});
  }
  return made;
}

std::string longest_wait(log const& of, cast const& who) {
  rank_log const* waiting = nullptr;
  event const* longest = nullptr;
  for (rank_log const& rank : of.ranks) {
    for (event const& e : rank.events) {
      if (e.what != kind::wait && e.what != kind::receive && e.what != kind::combine) continue;
      if (longest != nullptr && length(e) <= length(*longest)) continue;
      waiting = &rank;
      longest = &e;
    }
  }
  if (longest == nullptr) return "longest wait: nobody waited\n";
  auto const& words = of.plans.at(longest->of.plan);
  return fmt::format("longest wait: {}, {}: {}{}, operation {}, {}; {}\n", who.name(*waiting),
                     time_for_people(length(*longest)), trace::name_of(*longest, of),
                     longest->step != 0 ? fmt::format(", in step {}", longest->step) : "", longest->of.number,
                     words.call, words.schedule);
}

/// Of those, the one that waited longest, for whom.
std::string failures(log const& of, cast const& who) {
  std::size_t failed = 0;
  rank_log const* waiting = nullptr;
  event const* longest = nullptr;
  for (rank_log const& rank : of.ranks) {
    for (event const& e : rank.events) {
      if (e.of.failed == 0) continue;
      failed += e.what == kind::operation;
      if (e.what == kind::operation || (longest != nullptr && length(e) <= length(*longest))) continue;
      waiting = &rank;
      longest = &e;
    }
  }
  if (failed == 0) return "";
  std::string const text = fmt::format("failed: {} operations", failed);
  if (longest == nullptr) return text + "\n";
  return text + fmt::format("; {} waited longest, {}: {}{}, operation {}, {}\n", who.name(*waiting),
                            time_for_people(length(*longest)), trace::name_of(*longest, of),
                            longest->step != 0 ? fmt::format(", in step {}", longest->step) : "", longest->of.number,
                            of.plans.at(longest->of.plan).call);
}

/// What all ranks have done together, by what is the same on all of them.
using operation_name = std::tuple<trace::team_name, std::uint64_t, std::uint32_t>;
struct arrival {
  std::uint64_t at;
  std::size_t rank;  ///< in the log
  auto operator<=>(arrival const&) const = default;
};

std::map<operation_name, std::vector<arrival>> arrivals_in(log const& of) {
  std::map<operation_name, std::vector<arrival>> all;
  for (std::size_t r = 0; r < of.ranks.size(); ++r) {
    for (event const& e : of.ranks[r].events)
      if (e.what == kind::operation) all[{team_of(e, of.ranks[r], of), e.of.tag, e.of.number}].push_back({e.begin, r});
  }
  for (auto& [name, arrived] : all) std::ranges::sort(arrived);
  return all;
}

struct lateness {
  std::size_t last = 0;  ///< so often
  double behind = 0;     ///< the one before, ns in all
};

std::string late_ranks(log const& of, cast const& who) {
  std::map<std::size_t, lateness> ranks;
  std::size_t met = 0;
  double apart = 0, most_apart = 0;
  for (auto const& [name, arrived] : arrivals_in(of)) {
    if (arrived.size() < 2) continue;
    ++met;
    auto const spread = static_cast<double>(arrived.back().at - arrived.front().at);
    apart += spread;
    most_apart = std::max(most_apart, spread);
    lateness& latest = ranks[arrived.back().rank];
    ++latest.last;
    latest.behind += static_cast<double>(arrived.back().at - arrived[arrived.size() - 2].at);
  }
  if (met == 0) return "";
  auto const& [rank, most] = *std::ranges::max_element(
      ranks, {}, [](auto const& each) { return std::pair(each.second.last, each.second.behind); });
  auto const counted = static_cast<double>(met);
  return fmt::format(
      "late: {} came last to {} of {} operations, {} after the one before it on average\n"
      "imbalance: the last rank came {} after the first on average, {} at most\n",
      who.name(of.ranks[rank]), most.last, met, time_for_people(most.behind / static_cast<double>(most.last)),
      time_for_people(apart / counted), time_for_people(most_apart));
}

std::string work_imbalance(log const& of, cast const& who) {
  double sum = 0, most = 0;
  rank_log const* hardest = nullptr;
  std::size_t working = 0;
  for (rank_log const& rank : of.ranks) {
    times const t = times_of(rank);
    if (t.operations == 0) continue;
    ++working;
    double const work = t.fold + t.copy;
    sum += work;
    if (work > most) {
      most = work;
      hardest = &rank;
    }
  }
  if (hardest == nullptr || working < 2) return "";
  return fmt::format("work: {} folded and copied longest, {:.2f} times as long as the mean\n", who.name(*hardest),
                     most * static_cast<double>(working) / sum);
}

std::string most_waited_for(log const& of, cast const& who) {
  std::map<std::string, double> for_rank;
  double sum = 0;
  for (rank_log const& rank : of.ranks) {
    for (event const& e : rank.events) {
      if ((e.what != kind::wait && e.what != kind::receive) || e.peer == event::nobody) continue;
      rank_log const* const peer = who.peer_of(e, rank);
      for_rank[peer != nullptr ? who.name(*peer) : fmt::format("rank {}", e.peer)] += length(e);
      sum += length(e);
    }
  }
  if (for_rank.empty()) return "";
  auto const& [rank, waited] = *std::ranges::max_element(for_rank, {}, [](auto const& each) { return each.second; });
  return fmt::format("most waited for: {}, {} of {} that ranks waited in all\n", rank, time_for_people(waited),
                     time_for_people(sum));
}

std::string bytes_by_level(log const& of) {
  std::string text;
  for (std::size_t l = 0; l < trace::level_names.size(); ++l) {
    std::uint64_t sum = 0;
    for (rank_log const& rank : of.ranks) sum += rank.moved[l];
    if (sum != 0)
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", trace::level_names[l], bytes_for_people(sum));
  }
  return fmt::format("moved between ranks: {}\n", text.empty() ? "nothing" : text);
}

std::string dropped(log const& of, cast const& who) {
  std::string text;
  for (rank_log const& rank : of.ranks) {
    if (rank.dropped != 0) text += fmt::format("{}{} of {}", text.empty() ? "" : ", ", rank.dropped, who.name(rank));
  }
  if (text.empty()) return "";
  return fmt::format("dropped: the oldest events, {}; COSET_TRACE_EVENTS keeps more, and bytes count these, too\n",
                     text);
}

}  // namespace

table shares_of(log const& of) { return shares(of, cast(of)); }

std::string summary_of(log const& of) {
  bool const any = std::ranges::any_of(of.ranks, [](rank_log const& rank) { return !rank.events.empty(); });
  if (!any) return "no rank has done anything\n";
  cast const who(of);
  return shares(of, who).as_text() + longest_wait(of, who) + failures(of, who) + late_ranks(of, who) +
         work_imbalance(of, who) + most_waited_for(of, who) + bytes_by_level(of) + dropped(of, who);
}

}  // namespace coset::cli
