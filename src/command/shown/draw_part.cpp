// SPDX-License-Identifier: Apache-2.0
// One rank's part of a schedule, as text: nothing is made for the ranks of other hosts.
#include <map>

#include "base/text/format.hpp"
#include "command/shown/draw.hpp"
#include "command/shown/number_runs.hpp"
#include "planning/schedule/registry/algorithm.hpp"

namespace coset::schedule {
namespace {

class drawing {
 public:
  drawing(part const& p, rank_t rank) : part_(p), rank_(rank) {}

  std::string text() {
    text::append(text_, "{} by {}: rank {} among ranks {}, which share memory\n", name_of(part_.own.verb), name(),
                 rank_, runs({part_.first, part_.first + part_.own.ranks - 1}, true));
    if (part_.own.blocks.size() > 1) add_blocks();
    for (std::size_t i = 0; i < part_.own.steps.size(); ++i) add_step(i);
    return std::move(text_);
  }

 private:
  using numbers = std::vector<std::uint32_t>;

  std::string name() const { return algorithm{part_.own.algorithm, part_.own.parameters}.text(); }

  void add_blocks() {
    text::append(text_, "blocks:");
    for (block_t b = 0; b < part_.own.blocks.size(); ++b) {
      block const& at = part_.own.blocks[b];
      text::append(text_, "{} {} [{}, {})", b == 0 ? "" : ",", b, at.offset.text(), (at.offset + at.size).text());
    }
    text::append(text_, "\n");
  }

  rank_t number_of(source const& s) const {
    return s.rank == part_.own.ranks ? part_.remote[s.slot].rank : part_.first + s.rank;
  }

  /// Blocks of which the rank does the same are one line.
  void add_step(std::size_t i) {
    std::map<numbers, numbers> folded, sent;
    for (assignment const& a : part_.own.steps[i]) {
      if (part_.first + a.rank != rank_) continue;
      numbers from;
      for (source const& s : part_.own.from(a)) from.push_back(number_of(s));
      folded[from].push_back(a.block);
    }
    for (departure const& d : part_.departures[i]) {
      if (part_.first + d.from == rank_) sent[{d.to}].push_back(d.block);
    }
    if (folded.empty() && sent.empty()) return;
    text::append(text_, "step {}\n", i + 1);
    for (auto const& [to, blocks] : sent) text::append(text_, "  sends blocks {} to {}\n", runs(blocks), to.front());
    for (auto const& [from, blocks] : folded)
      text::append(text_, "  {} blocks {} of {}\n", from.size() == 1 ? "copies" : "folds", runs(blocks), runs(from));
  }

  static std::string runs(numbers some, bool filled = false) {
    for (std::uint32_t n = some.front() + 1; filled && n < some[1]; ++n) some.push_back(n);
    return number_runs(std::move(some));
  }

  part const& part_;
  rank_t const rank_;
  std::string text_;
};

}  // namespace

std::string draw_text(part const& drawn, rank_t rank) { return drawing(drawn, rank).text(); }

}  // namespace coset::schedule
