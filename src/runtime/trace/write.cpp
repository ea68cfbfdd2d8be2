// SPDX-License-Identifier: Apache-2.0
// A log as JSON in the trace event format.
#include <algorithm>
#include <cstddef>
#include <map>
#include <tuple>

#include "base/text/format.hpp"
#include "coset/detail/version.h"
#include "runtime/trace/log.hpp"

namespace coset::trace {
namespace {

std::string in_quotes(std::string_view text) {
  std::string to = "\"";
  for (char const c : text) {
    if (static_cast<unsigned char>(c) < 0x20) {
      text::append(to, "\\u{:04x}", static_cast<unsigned>(c));
      continue;
    }
    if (c == '"' || c == '\\') to += '\\';
    to += c;
  }
  return to += '"';
}

/// Viewers count in µs.
std::string microseconds(std::uint64_t ns) { return text::format("{}.{:03}", ns / 1000, ns % 1000); }

constexpr std::uint32_t most_tracks = 1000;  ///< of one thread

/// The signal that a wait waits for, and the wait of it: arrows are numbered by both.
struct signal_name {
  std::uint64_t tag;
  team_name team;
  std::uint8_t channel;
  std::uint32_t signal;
  rank_t of;
  friend auto operator<=>(signal_name const&, signal_name const&) = default;
};

class writer {
 public:
  explicit writer(log const& of) : log_(of) {
    for (rank_log const& rank : log_.ranks) {
      groups_.try_emplace({rank.process, rank.root_team}, static_cast<std::uint32_t>(groups_.size()) + 1);
      for (event const& e : rank.events) {
        if (e.what == kind::post) posts_.try_emplace(name_of_signal(rank, e), place{&rank, &e});
      }
    }
  }

  std::string run() && {
    text::append(to_, "{{\"displayTimeUnit\":\"ns\",\"otherData\":{{\"coset_trace\":1,\"version\":\"{}.{}.{}\",",
                 COSET_VERSION_MAJOR, COSET_VERSION_MINOR, COSET_VERSION_PATCH);
    text::append(to_, "\"process\":{},\"processes\":{},\"host\":{},\"begin_ns\":\"{}\",\"ranks\":[", log_.process,
                 log_.processes, in_quotes(log_.host), log_.begin);
    for (rank_log const& rank : log_.ranks) write_rank(rank);
    to_ += "]},\n\"traceEvents\":[";
    first_ = true;
    for (rank_log const& rank : log_.ranks) write_events(rank);
    return std::move(to_ += "\n]}\n");
  }

 private:
  struct place {
    rank_log const* rank;
    event const* what;
  };

  /// Viewers group tracks by process, and want one number for each group and for each track: a team is a group.
  std::uint32_t group_of(rank_log const& rank) const { return groups_.at({rank.process, rank.root_team}); }

  void separate() {
    if (!std::exchange(first_, false)) to_ += ',';
    to_ += '\n';
  }

  void write_rank(rank_log const& rank) {
    separate();
    text::append(
        to_,
        "{{\"pid\":{},\"process\":{},\"team\":{},\"thread\":{},\"rank\":{},\"ranks\":{},\"dropped\":{},\"moved\":{{",
        group_of(rank), rank.process, rank.root_team, rank.thread, rank.number, rank.size, rank.dropped);
    for (std::size_t l = 0; l < rank.moved.size(); ++l)
      text::append(to_, "{}\"{}\":{}", l == 0 ? "" : ",", level_names[l], rank.moved[l]);
    to_ += "}}";
  }

  void write_track_name(rank_log const& rank, std::uint32_t track, std::string const& name) {
    separate();
    text::append(to_, "{{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":{},\"tid\":{},\"args\":{{\"name\":\"{}\"}}}}",
                 group_of(rank), track, name);
    separate();
    text::append(to_,
                 "{{\"ph\":\"M\",\"name\":\"thread_sort_index\",\"pid\":{},\"tid\":{},\"args\":{{\"sort_index\":{}}}}}",
                 group_of(rank), track, rank.number * most_tracks + track % most_tracks);
  }

  void write_group(rank_log const& rank) {
    separate();
    text::append(to_, "{{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":{},\"args\":{{\"name\":\"{}team {}\"}}}}",
                 group_of(rank), log_.processes > 1 ? text::format("process {}, ", rank.process) : "", rank.root_team);
    separate();
    text::append(to_, "{{\"ph\":\"M\",\"name\":\"process_sort_index\",\"pid\":{},\"args\":{{\"sort_index\":{}}}}}",
                 group_of(rank), group_of(rank));
  }

  /// By the time of their beginning, what contains others before these: so viewers want them.
  void write_events(rank_log const& rank) {
    if (group_of(rank) != latest_group_) write_group(rank);
    latest_group_ = group_of(rank);
    std::uint32_t const own = rank.thread * most_tracks;
    write_track_name(rank, own, text::format("rank {}", rank.number));
    for (auto const& [of, track] : tracks_of(rank))
      write_track_name(rank, own + track, text::format("rank {}, started {}", rank.number, track));
    std::vector<event const*> in_order;
    for (event const& e : rank.events) in_order.push_back(&e);
    std::ranges::stable_sort(in_order, {}, [](event const* e) {
      return std::tuple(e->begin, ~e->end, e->what != kind::operation, e->what != kind::post);
    });
    for (event const* const e : in_order) write_event(rank, *e);
  }

  using channel = std::pair<std::uint16_t, std::uint8_t>;
  /// Blocking calls of all teams of a thread are one track; operations that overlap have others.
  std::map<channel, std::uint32_t> const& tracks_of(rank_log const& rank) {
    auto const [at, is_new] = tracks_.try_emplace(&rank);
    if (is_new) {
      for (event const& e : rank.events) {
        if (e.channel != 0) at->second.try_emplace({e.team, e.channel}, 0);
      }
      std::uint32_t number = 0;
      for (auto& [of, track] : at->second) track = std::min(++number, most_tracks - 1);
    }
    return at->second;
  }
  std::uint32_t track_of(rank_log const& rank, event const& e) {
    return rank.thread * most_tracks + (e.channel == 0 ? 0 : tracks_of(rank).at({e.team, e.channel}));
  }

  /// Of a post and of a wait for it.
  signal_name name_of_signal(rank_log const& rank, event const& e) const {
    return {e.of.tag, team_of(e, rank, log_), e.channel, e.signal, e.peer};
  }

  void write_event(rank_log const& rank, event const& e) {
    auto const& words = log_.plans.at(e.of.plan);
    separate();
    text::append(to_, "{{\"name\":{},\"cat\":\"{}\",\"pid\":{},\"tid\":{},\"ts\":{},", in_quotes(name_of(e, log_)),
                 kind_names[static_cast<std::size_t>(e.what)], group_of(rank), track_of(rank, e),
                 microseconds(e.begin));
    if (e.what == kind::post)
      to_ += "\"ph\":\"i\",\"s\":\"t\",";
    else
      text::append(to_, "\"ph\":\"X\",\"dur\":{},", microseconds(e.end - e.begin));
    text::append(to_,
                 "\"args\":{{\"operation\":{},\"schedule\":{},\"number\":{},\"team\":{},\"joint\":{},\"channel\":{},"
                 "\"tag\":\"{:x}\"",
                 in_quotes(words.call), in_quotes(words.schedule), e.of.number, std::uint32_t{e.team}, e.joint != 0,
                 e.channel, e.of.tag);
    if (e.joint != 0) text::append(to_, ",\"agreed\":\"{:x}\"", team_of(e, rank, log_).number);
    if (e.of.failed != 0) to_ += ",\"failed\":true";
    if (e.what != kind::operation) text::append(to_, ",\"step\":{}", e.step);
    if (e.peer != event::nobody) text::append(to_, ",\"peer\":{}", e.peer);
    if (e.what == kind::wait || e.what == kind::post) {
      text::append(to_, ",\"signal\":{}", e.signal);
    } else {
      text::append(to_, ",\"bytes\":{},\"moved\":{},\"sources\":{}", e.data.bytes, e.data.moved, e.sources);
    }
    to_ += "}}";
    if (e.what == kind::wait && e.signal != has_left && e.of.failed == 0) write_arrow(rank, e);
  }

  void write_arrow(rank_log const& rank, event const& wait) {
    auto const post = posts_.find(name_of_signal(rank, wait));
    if (post == posts_.end()) return;
    auto const& [other, posted] = post->second;
    if (posted->begin > wait.end) return;
    ++arrows_;
    separate();
    text::append(to_,
                 "{{\"ph\":\"s\",\"name\":\"signal\",\"cat\":\"signal\",\"id\":{},\"pid\":{},\"tid\":{},\"ts\":{}}}",
                 arrows_, group_of(*other), track_of(*other, *posted), microseconds(posted->begin));
    separate();
    text::append(to_,
                 "{{\"ph\":\"f\",\"bp\":\"e\",\"name\":\"signal\",\"cat\":\"signal\",\"id\":{},\"pid\":{},\"tid\":{},"
                 "\"ts\":{}}}",
                 arrows_, group_of(rank), track_of(rank, wait), microseconds(wait.end));
  }

  log const& log_;
  std::string to_;
  bool first_ = true;
  std::uint32_t latest_group_ = UINT32_MAX;
  std::uint64_t arrows_ = 0;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> groups_;  ///< of process and team
  std::map<signal_name, place> posts_;
  std::map<rank_log const*, std::map<channel, std::uint32_t>> tracks_;
};

std::string with_peer(std::string_view one, rank_t peer, std::string_view many) {
  return peer != event::nobody ? text::format("{} rank {}", one, peer) : std::string(many);
}

}  // namespace

team_name team_of(event const& e, rank_log const& rank, log const& of) {
  if (e.joint == 0) return {rank.process, e.team};
  auto const agreed = of.joint_teams.find({rank.process, static_cast<std::uint16_t>(e.team)});
  return {UINT32_MAX, agreed != of.joint_teams.end() ? agreed->second : e.team};
}

std::string name_of(event const& e, log const& of) {
  switch (e.what) {
    case kind::operation:
      return of.plans.at(e.of.plan).call + (e.of.failed != 0 ? ", failed" : "");
    case kind::wait:
      return e.signal == 1          ? text::format("wait for rank {} to enter", e.peer)
             : e.signal == has_left ? text::format("wait until rank {} has left", e.peer)
                                    : text::format("wait for rank {}", e.peer);
    case kind::fold:
      return text::format("fold {} arrays", e.sources);
    case kind::copy:
      return e.data.moved == 0 ? "copy" : with_peer("copy with", e.peer, "copy to all");
    case kind::post:
      return e.signal == 1 ? "enter" : text::format("signal {}", e.signal);
    case kind::send:
      return text::format("send to rank {}", e.peer);
    case kind::receive:
      return text::format("message of rank {}", e.peer);
    case kind::hand_over:
      return "hand over to MPI";
    case kind::combine:
      return "wait for MPI to combine";
  }
  __builtin_unreachable();
}

std::string json_of(log const& of) { return writer(of).run(); }

}  // namespace coset::trace
