// SPDX-License-Identifier: Apache-2.0
// How long values live, and which of them may lie in the same room one after the other.
#include <algorithm>
#include <limits>

#include "planning/program/value_copies.hpp"

namespace coset::program {
namespace {

using schedule::block_t;
using schedule::no_slot;

struct lifetime {
  std::uint32_t begin = std::numeric_limits<std::uint32_t>::max();
  std::uint32_t end = 0;
  bool used() const { return begin <= end; }
  void cover(std::uint32_t time) { begin = std::min(begin, time), end = std::max(end, time); }
};

class staging_allocation {
 public:
  staging_allocation(schedule::schedule const& s, value_copies const& all, policy const& p,
                     std::vector<rank_t> const& output_of, std::vector<operation>& operations)
      : schedule_(s), copies_(all), policy_(p), output_of_(output_of), operations_(operations) {}

  std::uint32_t run() {
    measure_lifetimes();
    allocate_staging();
    return layers_;
  }

 private:
  /// Lifetimes of what lies in staging and of what uses the caller's output, by copy, in positions of the order.
  void measure_lifetimes() {
    staged_.resize(copies_.size());
    in_output_.resize(copies_.size());
    wants_output_.assign(copies_.size(), false);
    auto const note = [&](location const& p, std::uint32_t time) {
      if (p.where == area::staging) staged_[p.layer].cover(time);
      if (p.where == area::output) wants_output_[p.layer] = true;
      if (p.where == area::output || (policy_.in_place && p.where == area::input)) in_output_[p.layer].cover(time);
    };
    // A message may come at any time, and is under way until its sender leaves.
    auto const end = static_cast<std::uint32_t>(operations_.size());
    for (std::uint32_t i = 0; i < operations_.size(); ++i) {
      bool const sent = operations_[i].what == operation::kind::send;
      bool const received = operations_[i].what == operation::kind::receive;
      for (location const& p : operations_[i].from) note(p, i), sent ? note(p, end) : void();
      for (location const& p : operations_[i].to) note(p, i), received ? note(p, 0) : void();
    }
    for (std::size_t c = 0; policy_.in_place && c < schedule_.ranks * schedule_.blocks.size(); ++c) {
      if (in_output_[copies_.first(c)].used())
        in_output_[copies_.first(c)].cover(0);  // the input is there from the start
    }
  }

  /// May a partial result of this copy lie in the caller's output? Not where that rank gets no result of the block or
  /// shares its output, and not while a result, an input or an earlier partial result lies there. Of an all_to_all in place
  /// that is another block's input.
  bool fits_output(copy_t h, std::size_t c) const {
    if (policy_.in_place && detail::swaps_pieces(schedule_.verb)) return false;
    lifetime const mine = in_output_[h];
    for (copy_t other = copies_.first(c); other < copies_.first(c + 1); ++other) {
      if (!lies_in_output_[other]) continue;
      lifetime const theirs = in_output_[other];
      if (mine.begin < theirs.end && theirs.begin < mine.end) return false;
    }
    return true;
  }

  /// The first layer that is free for the whole lifetime. A layer may be written by the very operation that reads it
  /// last: kernels allow a destination that is one of the sources, as long as both are equally wide.
  void allocate_staging() {
    lies_in_output_.assign(copies_.size(), false);
    spilled_.assign(copies_.size(), false);
    layer_of_.assign(copies_.size(), 0);
    std::vector<std::vector<lifetime>> layers;
    for (rank_t r = 0; r < schedule_.ranks; ++r) {
      for (block_t b = 0; b < schedule_.blocks.size(); ++b) assign_layers_of(r, b, layers);
    }
    for (operation& o : operations_) {
      for (location& p : o.from) settle(p);
      for (location& p : o.to) settle(p);
    }
  }

  void assign_layers_of(rank_t r, block_t b, std::vector<std::vector<lifetime>>& layers) {
    std::size_t const c = copies_.cell(r, b);
    bool const has_output = schedule_.result[r][b] != no_slot;
    std::vector<copy_t> partial, staged;
    for (copy_t h = copies_.first(c); h < copies_.first(c + 1); ++h) {
      if (staged_[h].used()) staged.push_back(h);
      if (!in_output_[h].used()) continue;
      // An input that stays where its caller has it needs no other place, even if its rank gets no result there.
      bool const is_input = h == copies_.first(c);
      bool const fixed = copies_[h].is_result || (is_input && (has_output || !wants_output_[h]));
      lies_in_output_[h] = fixed;
      if (!fixed) partial.push_back(h);
    }
    std::sort(partial.begin(), partial.end(),
              [&](copy_t x, copy_t y) { return in_output_[x].begin < in_output_[y].begin; });
    for (copy_t h : partial) {
      lies_in_output_[h] = has_output && output_of_.empty() && fits_output(h, c);
      spilled_[h] = !lies_in_output_[h];
      if (!spilled_[h]) continue;
      if (!staged_[h].used()) staged.push_back(h);
      staged_[h].cover(in_output_[h].begin);
      staged_[h].cover(in_output_[h].end);
    }
    std::sort(staged.begin(), staged.end(), [&](copy_t x, copy_t y) { return staged_[x].begin < staged_[y].begin; });
    for (auto& layer : layers) layer.clear();
    for (copy_t h : staged) assign_staging_layer(h, layers);
  }

  void assign_staging_layer(copy_t h, std::vector<std::vector<lifetime>>& layers) {
    std::uint32_t l = 0;
    auto const free = [&](std::vector<lifetime> const& taken) {
      return std::none_of(taken.begin(), taken.end(), [&](lifetime const& t) {
        bool const touch = staged_[h].begin == t.end || t.begin == staged_[h].end;
        return (staged_[h].begin < t.end && t.begin < staged_[h].end) || (touch && policy_.widens);
      });
    };
    while (l < layers.size() && !free(layers[l])) ++l;
    if (l == layers.size()) layers.emplace_back();
    layers[l].push_back(staged_[h]);
    layer_of_[h] = l;
    layers_ = std::max(layers_, l + 1);
  }

  void settle(location& p) const {
    copy_t const h = p.layer;
    if (p.where == area::output && spilled_[h]) p.where = area::staging;
    p.layer = p.where == area::staging ? layer_of_[h] : 0;
    p.partial = p.where == area::staging && copies_.is_partial(copies_[h]);
    if (p.where == area::output && !output_of_.empty()) p.rank = output_of_[p.rank];
  }

  schedule::schedule const& schedule_;
  value_copies const& copies_;
  policy const& policy_;
  std::vector<rank_t> const& output_of_;
  std::vector<operation>& operations_;
  std::vector<lifetime> staged_, in_output_;
  std::vector<std::uint32_t> layer_of_;
  std::vector<char> wants_output_, lies_in_output_, spilled_;
  std::uint32_t layers_ = 0;
};

}  // namespace

std::uint32_t allocate_staging(schedule::schedule const& s, value_copies const& all, policy const& p,
                               std::vector<rank_t> const& output_of, std::vector<operation>& operations) {
  return staging_allocation(s, all, p, output_of, operations).run();
}

}  // namespace coset::program
