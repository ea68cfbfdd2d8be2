// SPDX-License-Identifier: Apache-2.0
// Sides of a network, the links between them, and what has to cross these.
#include "command/shown/networks/cuts.hpp"

#include <algorithm>
#include <bit>
#include <limits>

namespace coset::schedule {

namespace {

/// As often as a rank inside is followed by one outside: so many sums of a first few ranks inside are wanted there.
std::int64_t ends_of_runs(std::vector<bool> const& inside) {
  std::int64_t ends = 0;
  for (std::size_t r = 1; r < inside.size(); ++r) ends += inside[r - 1] && !inside[r] ? 1 : 0;
  return ends;
}

/// What part of the vector ranks outside get, each element counted once.
fraction got_outside(verb what, rank_t root, std::vector<bool> const& inside, std::int64_t outside) {
  if (detail::gets_pieces(what)) return {outside, static_cast<std::int64_t>(inside.size())};
  return detail::is_to_root(what) && inside[root] ? 0 : 1;
}

}  // namespace

fraction least_crossing(verb what, rank_t root, std::vector<bool> const& inside) {
  auto const ranks = static_cast<std::int64_t>(inside.size());
  std::int64_t const here = std::ranges::count(inside, true), there = ranks - here;
  if (here == 0 || there == 0 || detail::is_barrier(what)) return 0;
  fraction const got = got_outside(what, root, inside, there);
  switch (detail::row_of(what).of) {
    case detail::contributors::all:
      return got;
    case detail::contributors::up_to_own:
    case detail::contributors::before_own:
      return ends_of_runs(inside);
    case detail::contributors::owner:
      return got * fraction(here, ranks);
    case detail::contributors::root:
      return inside[root] ? got : 0;
    case detail::contributors::partner:
      return {here * there, ranks};
  }
  __builtin_unreachable();
}

namespace {

/// Links that carry at once, in one direction.
struct bundle {
  std::size_t links = 0;
  double bandwidth = 0, latency = std::numeric_limits<double>::infinity();
  std::string name = {};  ///< of the first one

  bundle() = default;
  explicit bundle(shared_link const& one)
      : links(1), bandwidth(1 / one.costs.per_byte), latency(one.costs.latency), name(one.name) {}

  bundle& operator+=(bundle const& more) {
    if (links == 0) name = more.name;
    links += more.links;
    bandwidth += more.bandwidth;  // infinite where a byte takes no time
    latency = std::min(latency, more.latency);
    return *this;
  }
};

/// Those that leave a part of the network, and those that enter it.
struct border {
  bundle out, in;

  border& operator+=(border const& more) {
    out += more.out;
    in += more.in;
    return *this;
  }
};

/// Parts of the network of which no two overlap.
struct parts {
  std::int64_t with_ranks = 0;
  border around_all;

  void add(border const& one) {
    ++with_ranks;
    around_all += one;
  }
};

class cutting {
 public:
  cutting(network const& of, rank_costs const& costs, demand const& wanted)
      : of_(of),
        costs_(costs),
        what_(wanted.verb),
        root_(wanted.root),
        ranks_(wanted.ranks),
        at_(of.places()),
        into_(of.places()) {
    if (ranks_ > of.ranks())
      throw schedule_error("the network has " + std::to_string(of.ranks()) + " ranks, not " + std::to_string(ranks_));
    for (rank_t r = 0; r < ranks_; ++r) at_[of.place_of(r)].push_back(r);
    for (place_t p = 0; p < of.places(); ++p)
      for (link_t const l : of.links_from(p)) into_[of.links()[l].to].push_back({p, l});
  }

  std::vector<cut> run() {
    auto const doublings = static_cast<double>(std::bit_width(ranks_ - 1));
    cuts_.push_back({"latency", 0, doublings * costs_.per_message, 0});
    cut_off_ranks();
    cut_off_hosts();
    for (place_t p = 0; p < of_.places(); ++p) cut_around(p);
    cut_after_each();
    return std::move(cuts_);
  }

 private:
  /// The links out of a place, and those into it, towards the places of one piece.
  template <typename Is>
  border border_of(place_t p, Is is_beyond) const {
    border found;
    for (link_t const l : of_.links_from(p))
      if (is_beyond(of_.links()[l].to)) found.out += bundle(of_.links()[l]);
    for (auto const& [from, l] : into_[p])
      if (is_beyond(from)) found.in += bundle(of_.links()[l]);
    return found;
  }

  void add(std::string name, fraction crosses, bundle const& over) {
    if (crosses > 0)
      cuts_.push_back({std::move(name), crosses, costs_.per_message + over.latency, crosses.value() / over.bandwidth});
  }

  /// Both directions of one cut.
  void cut_off(std::string const& part, std::vector<bool> const& inside, border const& of) {
    std::vector<bool> outside = inside;
    outside.flip();
    auto const name = [&](char const* way, bundle const& b) { return b.links == 1 ? b.name : way + part; };
    add(name("out of ", of.out), least_crossing(what_, root_, inside), of.out);
    add(name("into ", of.in), least_crossing(what_, root_, outside), of.in);
  }

  void cut_all(std::string const& name, parts const& of) {
    if (!detail::folds_for_all(what_) || of.with_ranks < 2) return;
    fraction const crosses = 2 * (of.with_ranks - 1);
    add(name, crosses, of.around_all.out);
    add(name, crosses, of.around_all.in);
  }

  border border_of_rank(rank_t r) const {
    return {bundle(of_.links()[of_.link_out_of(r)]), bundle(of_.links()[of_.link_into(r)])};
  }

  std::vector<bool> with(std::vector<rank_t> const& some) const {
    std::vector<bool> inside(ranks_);
    for (rank_t const r : some) inside[r] = true;
    return inside;
  }

  void cut_off_ranks() {
    parts all;
    for (rank_t r = 0; r < ranks_; ++r) {
      border const own = border_of_rank(r);
      cut_off("rank " + std::to_string(r), with({r}), own);
      all.add(own);
    }
    cut_all("all ranks", all);
  }

  void cut_off_hosts() {
    parts all;
    for (place_t p = 0; p < of_.places(); ++p) {
      if (at_[p].empty()) continue;
      border const own = border_of(p, [](place_t) { return true; });
      cut_off(of_.name_of(p), with(at_[p]), own);
      all.add(own);
    }
    cut_all("all hosts", all);
  }

  /// The places that hang together without p: [place] the number of its piece, from 1.
  std::vector<std::size_t> pieces_without(place_t p, std::size_t& count) const {
    std::vector<std::size_t> piece(of_.places());
    piece[p] = SIZE_MAX;
    std::vector<place_t> found;
    auto const reach = [&](place_t next) {
      if (piece[next] != 0) return;
      piece[next] = count;
      found.push_back(next);
    };
    for (place_t first = 0; first < of_.places(); ++first) {
      if (piece[first] != 0) continue;
      ++count;
      reach(first);
      for (; !found.empty();) {
        place_t const now = found.back();
        found.pop_back();
        for (link_t const l : of_.links_from(now)) reach(of_.links()[l].to);
        for (auto const& link : into_[now]) reach(link.from);
      }
    }
    return piece;
  }

  void cut_around(place_t p) {
    std::size_t count = 0;
    auto const piece = pieces_without(p, count);
    std::vector<std::vector<rank_t>> ranks_in(count + 1);
    std::vector<place_t> first(count + 1), size(count + 1);
    for (place_t other = static_cast<place_t>(of_.places()); other-- > 0;) {
      if (other == p) continue;
      first[piece[other]] = other;
      ++size[piece[other]];
      auto& in = ranks_in[piece[other]];
      in.insert(in.end(), at_[other].begin(), at_[other].end());
    }
    parts all;
    for (rank_t const r : at_[p]) all.add(border_of_rank(r));
    for (std::size_t k = 1; k <= count; ++k) {
      if (ranks_in[k].empty()) continue;
      border found = border_of(p, [&](place_t other) { return piece[other] == k; });
      std::swap(found.out, found.in);  // as the piece sees it
      cut_off(several(first[k], size[k]), with(ranks_in[k]), found);
      all.add(found);
    }
    cut_all("around " + of_.name_of(p), all);
  }

  std::string several(place_t first, place_t size) const {
    return of_.name_of(first) + (size > 1 ? " and " + std::to_string(size - 1) + " more" : "");
  }

  void cut_after_each() {
    std::vector<bool> inside(ranks_);
    for (place_t last = 0; last + 1 < of_.places(); ++last) {
      for (rank_t const r : at_[last]) inside[r] = true;
      border found;
      for (place_t p = 0; p <= last; ++p) found += border_of(p, [=](place_t other) { return other > last; });
      cut_off(several(0, last + 1), inside, found);
    }
  }

  network const& of_;
  rank_costs costs_;
  verb what_;
  rank_t root_, ranks_;
  struct entering {
    place_t from;
    link_t link;
  };
  std::vector<std::vector<rank_t>> at_;      // [place]
  std::vector<std::vector<entering>> into_;  // [place]
  std::vector<cut> cuts_;
};

}  // namespace

std::vector<cut> cuts_of(network const& of, rank_costs const& costs, demand const& wanted) {
  return cutting(of, costs, wanted).run();
}

cut const& binding(std::vector<cut> const& cuts, double bytes) {
  return *std::ranges::max_element(cuts, {}, [=](cut const& one) { return one.seconds(bytes); });
}

}  // namespace coset::schedule
