// SPDX-License-Identifier: Apache-2.0
#include "runtime/failure/ranks_in_words.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/text/format.hpp"
#include "runtime/failure/argument_check.hpp"

namespace coset::runtime {
namespace {

constexpr auto relaxed = std::memory_order_relaxed;

/// Another process's, where it has a place.
std::string peer_in_words(shared_memory const& team, rank_t peer) {
  std::string const place = team.part.messages != nullptr ? team.part.messages->place_of(peer) : std::string();
  return place.empty() ? text::format("rank {}", peer) : text::format("rank {} ({})", peer, place);
}

std::string awaited_in_words(shared_memory const& team, told_wait const& wait, bool in_this_team) {
  rank_t const rank = wait.awaited.load(relaxed);
  auto const of = wait.of.load(relaxed);
  bool const is_far = in_this_team && of == told_wait::cause::message;
  std::string const peer = rank == told_wait::nobody ? "others"
                           : is_far                  ? peer_in_words(team, rank)
                                                     : text::format("{}rank {}", in_this_team ? "" : "its ", rank);
  switch (of) {
    case told_wait::cause::entry:
      return text::format("for {} to begin", peer);
    case told_wait::cause::reuse:
      return text::format("for {} to end what comes before", peer);
    case told_wait::cause::message:
      return text::format("for a message of {} in", peer);
    case told_wait::cause::sending:
      return "until its messages are received, in";
    case told_wait::cause::offload:
      return "for the other hosts to combine, in";
    case told_wait::cause::signal:
      break;
  }
  return text::format("for {} to get on with", peer);
}

std::string plan_in_words(told_wait const& wait) {
  std::array<char, sizeof(told_wait::plan) + 1> words{};
  for (std::size_t k = 0; k < wait.plan.size(); ++k) {
    std::uint64_t const word = wait.plan[k].load(relaxed);
    std::memcpy(words.data() + k * sizeof word, &word, sizeof word);
  }
  return words[words.size() - 2] == '\0' ? words.data() : std::string(words.data()) + "…";
}

/// "for rank 3 to begin operation 42, allreduce of 1000 float (plus), planned as direct, staged: step 1 of 2".
/// Or of the operation that has been spoken of, "for rank 3 to begin it: step 1 of 2". `is_own`: the table that names the
/// type is there, as the caller is in that operation.
std::string wait_without_time(shared_memory const& team, told_wait const& wait, std::uint32_t spoken_of, bool is_own) {
  std::uint32_t const among = wait.among.load(relaxed), number = wait.number.load(relaxed);
  bool const in_this_team = (among & 1) == 0;
  std::string text = awaited_in_words(team, wait, in_this_team);
  if (in_this_team && number == spoken_of) {
    text += " it";
  } else {
    text::append(text, " operation {}, {}", number, signature::words_of(wait.in, is_own));
    if (std::string const plan = plan_in_words(wait); !plan.empty()) text::append(text, ", planned as {}", plan);
  }
  text::append(text, ": step {} of {}", wait.step.load(relaxed), wait.steps.load(relaxed));
  if (!in_this_team) text::append(text, ", in another team, of {} ranks", among / 2);
  return text;
}

/// A verb for one rank and for several.
struct predicate {
  char const *of_one, *of_several;
  std::string rest;
  friend bool operator==(predicate const&, predicate const&) = default;
};

struct place {
  predicate is;
  std::uint64_t waits_since;  ///< 0: it does not
};

/// Where processes share the memory, each knows its own threads' waits in other teams, and all know those in the team that
/// this one was split from.
told_wait const& wait_elsewhere(shared_memory const& team, rank_t rank) {
  if (team.kind.one_process) return team.root.arena.own(team.root_ranks[rank]).wait;
  return team.origin.arena.own(team.is_origin() ? rank : team.origin_ranks[rank]).wait;
}

bool has_left(shared_memory const& team, rank_t rank) {
  std::uint32_t const round = (team.kind.one_process ? team : team.origin).marks.told_round.load(relaxed);
  return round != 0 && team.left(rank).load(relaxed) == round;
}

/// Types and operations are named by what their hashes tell, as tables of a caller's own may be gone.
place place_of(shared_memory const& team, rank_t rank, std::uint32_t spoken_of) {
  own_line const& line = team.arena.own(rank);
  for (told_wait const* const wait : {&line.wait, &wait_elsewhere(team, rank)}) {
    if (std::uint64_t const since = wait->since.load(relaxed); since != 0)
      return {{"has waited", "have waited", wait_without_time(team, *wait, spoken_of, false)}, since};
  }
  std::uint32_t const latest = latest_of(line);
  if (latest == 0)
    return {has_left(team, rank) ? predicate{"has left", "have left", " without any operation"}
                                 : predicate{"has begun", "have begun", " no operation yet"},
            0};
  described_signature const& act = line.doing[latest % described_operations];
  std::string const words = text::format(" operation {}, {}", latest, signature::words_of(act, false));
  if (has_left(team, rank)) return {{"has left", "have left", " after" + words}, 0};
  if (signature::was_started(act)) return {{"has started", "have started", words + ", and does not wait"}, 0};
  return {{"is", "are", " in no wait of coset's, and began last" + words}, 0};
}

}  // namespace

std::string time_in_words(std::uint64_t ns) {
  double const seconds = static_cast<double>(ns) * 1e-9;
  return seconds < 10 ? text::format("{:.1f} s", seconds) : text::format("{:.0f} s", seconds);
}

std::uint64_t now_of_waits() noexcept {
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
          .count());
}

std::string ranks_in_words(std::vector<rank_t> const& ranks) {
  std::string text = ranks.size() == 1 ? "rank" : "ranks";
  for (std::size_t k = 0; k < ranks.size();) {
    std::size_t last = k;
    while (last + 1 < ranks.size() && ranks[last + 1] == ranks[last] + 1) ++last;
    text::append(text, "{} {}", k == 0 ? "" : ",", ranks[k]);
    if (last != k) text::append(text, "{}{}", last == k + 1 ? ", " : "-", ranks[last]);
    k = last + 1;
  }
  return text;
}

std::vector<rank_t> ranks_before(shared_memory const& team, std::uint32_t operation) {
  std::vector<rank_t> all;
  for (rank_t r = 0; r < team.ranks; ++r) {
    std::uint32_t const latest = latest_of(team.arena.own(r));
    if (static_cast<std::int32_t>(latest - operation) < 0) all.push_back(team.part.first + r);
  }
  return all;
}

std::string wait_in_words(shared_memory const& team, told_wait const& wait, std::uint64_t now) {
  return text::format("{} {}", time_in_words(now - wait.since.load(relaxed)), wait_without_time(team, wait, 0, true));
}

std::vector<std::string> where_ranks_are(shared_memory const& team, std::uint64_t now, std::uint32_t spoken_of) {
  struct group {
    place first;
    std::vector<rank_t> ranks;
  };
  std::vector<group> groups;
  for (rank_t r = 0; r < team.ranks; ++r) {
    place here = place_of(team, r, spoken_of);
    auto const alike = std::ranges::find_if(groups, [&](group const& g) { return g.first.is == here.is; });
    group& mine = alike != groups.end() ? *alike : groups.emplace_back(group{std::move(here), {}});
    if (alike != groups.end()) mine.first.waits_since = std::min(mine.first.waits_since, here.waits_since);
    mine.ranks.push_back(team.part.first + r);
  }
  std::vector<std::string> lines;
  for (group const& g : groups) {
    std::string line =
        ranks_in_words(g.ranks) + " " + (g.ranks.size() == 1 ? g.first.is.of_one : g.first.is.of_several);
    if (g.first.waits_since != 0) text::append(line, " {} ", time_in_words(now - std::min(now, g.first.waits_since)));
    lines.push_back(line + g.first.is.rest);
  }
  if (team.ranks != team.size())
    lines.push_back(text::format("ranks that share no memory with these: {}", team.size() - team.ranks));
  return lines;
}

std::string account_of(shared_memory const& team) {
  std::string text = text::format("coset: a team of {} ranks\n", team.size());
  for (std::string const& line : where_ranks_are(team, now_of_waits())) text::append(text, "coset:   {}\n", line);
  return text;
}

std::string missing_messages(detail::rank_state const& me, flight const& f) {
  if (!f.line.entered || f.code->received.empty()) return {};
  endpoint* const messages = me.ends[f.line.channel].messages.get();
  std::vector<rank_t> senders;
  try {
    for (std::size_t m = 0; m < f.code->received.size(); ++m) {
      if (messages->look(m) != endpoint::state::here) senders.push_back(f.code->code[f.code->received[m]].peer);
    }
  } catch (mpi::error const&) {  // the rank's own look will meet it again
  }
  std::ranges::sort(senders);
  senders.erase(std::unique(senders.begin(), senders.end()), senders.end());
  std::string text;
  for (rank_t const sender : senders)
    text::append(text, "{}{}", text.empty() ? "messages missing: of " : ", ", peer_in_words(me.shared, sender));
  return text;
}

}  // namespace coset::runtime
