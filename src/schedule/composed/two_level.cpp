// SPDX-License-Identifier: Apache-2.0
// Two levels: wide folds to the leaders of every host, narrow ones between leaders, and the way back.
#include "schedule/composed/two_level.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

#include "schedule/composed/nodes.hpp"
#include "schedule/parts/between.hpp"

namespace coset::schedule {
namespace {

/// The part of leader `number` of so many.
piece part_of(std::int64_t number, std::int64_t leaders) { return {{number, leaders}, {number + 1, leaders}}; }

/// How many of a host's ranks lead.
rank_t leaders_among(rank_t ranks, rank_t most) { return most == 0 ? ranks : std::min(ranks, most); }

/// The pieces between neighbouring ends of parts of all hosts.
std::vector<piece> pieces_of(two_level_shape const& shape) {
  std::set<rank_t> numbers;
  for (rank_t const ranks : shape.hosts) numbers.insert(leaders_among(ranks, shape.leaders));
  std::vector<fraction> cuts{1};
  for (rank_t const number : numbers)
    for (rank_t i = 0; i < number; ++i) cuts.push_back(part_of(i, number).low);
  std::ranges::sort(cuts);
  cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
  std::vector<piece> found;
  for (std::size_t c = 0; c + 1 < cuts.size(); ++c) found.push_back({cuts[c], cuts[c + 1]});
  return found;
}

/// Which of so many leaders has the part that contains `where`.
rank_t owner(rank_t leaders, piece where) { return static_cast<rank_t>((where.low * leaders).floor()); }

/// From every rank of a host to its leaders, or back: reduce_scatter or allgather where all lead, else a tree a part.
void append_inside(std::vector<rank_t> const& host, std::size_t leaders, std::string const& radix, bool back,
                   std::vector<mapped>& to) {
  auto const size = static_cast<rank_t>(host.size());
  if (leaders == size) {
    auto const verb = back ? collective::allgather : collective::reduce_scatter;
    to.push_back({make({"generalized", {{"radix", radix}}}, size, verb), host, {}});
    return;
  }
  auto const verb = back ? collective::broadcast : collective::reduce;
  for (rank_t i = 0; i < leaders; ++i)
    to.push_back(
        {make({"binomial", {{"radix", radix}}}, size, verb, i), host, part_of(i, static_cast<std::int64_t>(leaders))});
}

rank_t inner_of(two_level_shape const& shape) {
  if (shape.inner == 1) throw schedule_error("inner = 1 folds nothing; take 2 or more, or 0 for all ranks of a host");
  return shape.inner != 0 ? shape.inner : std::max(*std::ranges::max_element(shape.hosts), rank_t{2});
}

/// One host's part, phase by phase.
class host_building {
 public:
  host_building(two_level_shape const& shape, collective verb, rank_t root, std::size_t host)
      : shape_(shape), verb_(verb), host_(host), pieces_(pieces_of(shape)), inner_(inner_of(shape)) {
    for (rank_t const size : shape.hosts) {
      if (size == 0) throw schedule_error("a node has 0 ranks: leave it out");
      first_.push_back(first_.back() + size);
    }
    auto const of_root = static_cast<std::size_t>(std::ranges::upper_bound(first_, root) - first_.begin()) - 1;
    bool const rooted = verb == collective::reduce || verb == collective::broadcast;
    if (rooted && of_root == host) root_ = root - first_[host];
    std::vector<char> folds;
    for (rank_t const size : shape.hosts) folds.push_back(size > 1);
    between_ = between_hosts_part(shape.between, static_cast<rank_t>(shape.hosts.size()), static_cast<rank_t>(host),
                                  verb, static_cast<rank_t>(of_root), folds);
    members_.resize(shape.hosts[host]);
    std::iota(members_.begin(), members_.end(), 0);
    leaders_ = leaders_among(shape.hosts[host], shape.leaders);
  }

  part run() {
    std::vector<fraction> cuts;
    for (piece const where : pieces_) append_cuts({between_.own, {}, where}, cuts);
    assembly building(static_cast<rank_t>(members_.size()), std::move(cuts));
    add_way_in(building);
    add_exchange(building);
    add_way_out(building);
    return finish(std::move(building));
  }

 private:
  void add_way_in(assembly& building) const {
    if (verb_ == collective::broadcast) {
      for (rank_t i = 0; root_ && i < leaders_; ++i) building.fold(i, part_of(i, leaders_), {&*root_, 1});
      building.end_step();
      return;
    }
    std::vector<mapped> in;
    append_inside(members_, leaders_, std::to_string(inner_), false, in);
    building.run(in);
  }

  /// The slots that stand for those of the part between hosts; steps stay where they are, as hosts send and receive in
  /// the same ones.
  void add_exchange(assembly& building) {
    auto const blocks = static_cast<block_t>(between_.own.blocks.size());
    std::vector<std::vector<slot_t>> slots(pieces_.size() * blocks);
    for (std::size_t p = 0; p < pieces_.size(); ++p) {
      for (block_t b = 0; b < blocks; ++b)
        slots[p * blocks + b] = {building.holds(owner(leaders_, pieces_[p]), id(p, b))};
    }
    made_.departures.resize(building.steps());
    for (std::size_t i = 0; i < between_.own.steps.size(); ++i) {
      made_.departures.emplace_back();
      for (std::size_t p = 0; p < pieces_.size(); ++p) add_step(building, i, p, slots);
      building.end_step(true);
    }
    for (std::size_t p = 0; p < pieces_.size(); ++p) {
      for (block_t b = 0; b < blocks; ++b) {
        slot_t const kept = between_.own.result[0][b];
        if (kept != no_slot) building.hold(owner(leaders_, pieces_[p]), id(p, b), slots[id(p, b)][kept]);
      }
    }
    building.end_step();
  }

  block_t id(std::size_t piece, block_t block) const {
    return static_cast<block_t>(piece * between_.own.blocks.size() + block);
  }

  void add_step(assembly& building, std::size_t step, std::size_t p, std::vector<std::vector<slot_t>>& slots) {
    rank_t const own = owner(leaders_, pieces_[p]);
    for (departure d : between_.departures[step]) {
      d.from = own;
      d.block = id(p, d.block);
      d.slot = slots[d.block][d.slot];
      d.to = leader_of(d.to, p);
      made_.departures.back().push_back(d);
    }
    std::vector<source> sources;
    for (assignment const& a : between_.own.steps[step]) {
      auto& known = slots[id(p, a.block)];
      sources.clear();
      for (source const& s : between_.own.from(a)) {
        bool const here = s.rank == 0;
        sources.push_back(here ? source{own, known[s.slot]}
                               : source{static_cast<rank_t>(members_.size()), remote_index(p, s.slot)});
      }
      if (known.size() <= a.slot) known.resize(a.slot + 1, no_slot);
      known[a.slot] = building.assign(own, id(p, a.block), sources);
    }
  }

  slot_t remote_index(std::size_t piece, slot_t of_between) const {
    return static_cast<slot_t>(piece * between_.remote.size() + of_between);
  }

  rank_t leader_of(rank_t host, std::size_t piece) const {
    return first_[host] + owner(leaders_among(shape_.hosts[host], shape_.leaders), pieces_[piece]);
  }

  void add_way_out(assembly& building) const {
    if (verb_ == collective::broadcast && root_) {
      for (rank_t const r : members_)
        for (rank_t i = 0; r != *root_ && i < leaders_; ++i) building.fold(r, part_of(i, leaders_), std::array{i});
      building.end_step();
      return;
    }
    if (verb_ == collective::reduce) {
      for (rank_t i = 0; root_ && i < leaders_; ++i) building.fold(*root_, part_of(i, leaders_), std::array{i});
      building.end_step();
      return;
    }
    std::vector<mapped> out;
    append_inside(members_, leaders_, std::to_string(inner_), true, out);
    building.run(out);
  }

  part finish(assembly&& building) {
    auto const ranks = static_cast<rank_t>(members_.size());
    made_.own = std::move(building).finish(verb_, root_.value_or(ranks));
    made_.own.root = root_;
    if (verb_ == collective::broadcast && root_) std::ranges::fill(made_.own.result[*root_], 0);
    made_.own.idempotent_only = between_.own.idempotent_only;
    made_.departures.resize(made_.own.steps.size());
    made_.first = first_[host_];
    for (std::size_t p = 0; p < pieces_.size(); ++p) {
      for (remote_value const& v : between_.remote) made_.remote.push_back({leader_of(v.rank, p), v.slot, v.partial});
    }
    made_.blocks = between_.blocks * pieces_.size();
    // A fold and a copy for each level of the widest host.
    rank_t const widest = *std::ranges::max_element(shape_.hosts);
    for (std::uint64_t reach = 1; reach < widest; reach *= inner_) made_.most_values += 2;
    made_.most_values += between_.most_values;
    bool const same_hosts = std::ranges::count(shape_.hosts, widest) == std::ssize(shape_.hosts);
    made_.alike = same_hosts && between_.alike;
    return std::move(made_);
  }

  two_level_shape const& shape_;
  collective const verb_;
  std::size_t const host_;
  std::vector<piece> const pieces_;
  rank_t const inner_;
  std::vector<rank_t> first_{0};  // [host]: its first rank; then how many there are
  std::optional<rank_t> root_;    // if it is in this host
  part between_;
  std::vector<rank_t> members_;
  rank_t leaders_ = 0;
  part made_;
};

}  // namespace

schedule two_level(two_level_shape const& shape) {
  std::string const inner = std::to_string(inner_of(shape));
  auto const hosts = members_of(shape.hosts);
  schedule const between = between_hosts(shape.between, static_cast<rank_t>(hosts.size()));
  std::vector<mapped> in, exchanges, out;
  std::vector<fraction> cuts;
  for (auto const& host : hosts) {
    rank_t const leaders = leaders_among(static_cast<rank_t>(host.size()), shape.leaders);
    append_inside(host, leaders, inner, false, in);
    append_inside(host, leaders, inner, true, out);
  }
  for (piece const where : pieces_of(shape)) {
    auto& part = exchanges.emplace_back(mapped{between, {}, where});
    for (auto const& host : hosts)
      part.members.push_back(host[owner(leaders_among(static_cast<rank_t>(host.size()), shape.leaders), where)]);
    append_cuts(part, cuts);
  }
  assembly building(hosts.back().back() + 1, cuts);
  building.run(in);
  building.run(exchanges);
  building.run(out);
  auto made = std::move(building).finish(collective::allreduce, 0);
  made.idempotent_only = between.idempotent_only;
  return made;
}

part two_level_part(two_level_shape const& shape, collective verb, rank_t root, std::size_t host) {
  return host_building(shape, verb, root, host).run();
}

}  // namespace coset::schedule
