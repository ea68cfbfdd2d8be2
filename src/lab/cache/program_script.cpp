// SPDX-License-Identifier: Apache-2.0
#include "lab/cache/program_script.hpp"

#include <algorithm>
#include <utility>

#include "lab/cache/array_cells.hpp"
#include "planning/program/bind.hpp"
#include "planning/schedule/core/required.hpp"

namespace coset::cache {
namespace {

using program::compiled;
using program::instruction;

/// Blocks of fewer lines than that, on average, share lines: arrays are cut line by line.
constexpr std::size_t fewest_lines = 4;

compiled compiled_of(program_call const& c) {
  auto const made = schedule::make(c.algorithm, c.ranks, c.verb, c.root);
  compiled code = program::compile(made, c.storage);
  // Small payloads travel in the lines of entries.
  std::size_t const staged = code.layers * c.bytes;
  auto storage = c.storage;
  storage.exchanges = program::is_worth_exchanging(code, c.bytes, SIZE_MAX);
  if (storage.exchanges) return program::compile(made, storage);
  if (code.layers == 0 || staged > program::second_line_bytes) return code;
  storage.staging = staged <= program::entry_payload_bytes ? program::home::entry_line : program::home::second_line;
  return program::compile(made, storage);
}

struct byte_range {
  std::size_t begin, end;
};

/// Which of the operations that differ in where staging is.
struct turn {
  std::uint32_t parity;
  bool is_exchanged;
};

class program_work {
 public:
  explicit program_work(program_call const& c) : call_(c), code_(compiled_of(c)) {
    std::size_t const count = c.bytes / c.element_bytes;
    program::item_bytes const items{c.element_bytes};
    each_ = (count + c.ranks - 1) / c.ranks;
    layout_ = detail::is_of_pieces(c.verb) ? program::bind(code_, program::rank_pieces::equal(c.ranks, each_), items)
                                           : program::bind(code_, count, items);
    bytes_ = layout_.boundary.back() * c.element_bytes;
    by_line_ = bytes_ < fewest_lines * line_bytes * blocks();
  }

  work made() && {
    add_cells();
    made_.span = code_.span + 1;
    for (std::uint32_t n = 0; n < (layout_.exchanges ? 4 : 2); ++n) {
      auto& scripts = made_.call.emplace_back();
      for (rank_t r = 0; r < call_.ranks; ++r) scripts.push_back(script_of(r, {n % 2, n > 1}));
    }
    for (rank_t r = 0; r < call_.ranks; ++r) {
      script before, after;
      before.fold({}, cells_in(program::row_input, r, gives(r)));
      after.fold(cells_in(call_.storage.in_place ? program::row_input : program::row_output, r, gets(r)), {});
      made_.writes_input.push_back(std::move(before));
      made_.reads_output.push_back(std::move(after));
    }
    made_.array_bytes = bytes_touched(made_);
    return std::move(made_);
  }

 private:
  std::size_t blocks() const { return code_.blocks.size(); }
  std::uint32_t entry_line(rank_t r, std::uint32_t parity) const { return parity * call_.ranks + r; }
  std::uint32_t progress_line(rank_t r) const { return 2 * call_.ranks + r; }
  std::uint32_t& base(std::uint32_t row, rank_t r) { return bases_[row * call_.ranks + r]; }

  void add_cells() {
    bases_.resize(std::size_t{program::rows} * call_.ranks);
    made_.flags = 3 * call_.ranks;
    for (std::uint32_t k = 0; k < 3; ++k)
      for (rank_t r = 0; r < call_.ranks; ++r) made_.cells.push_back({1, r});
    for (std::uint32_t parity = 0; parity < 2; ++parity) {
      for (rank_t r = 0; r < call_.ranks; ++r) {
        base(program::row_entry_line + parity, r) = entry_line(r, parity);
        base(program::row_second_line + parity, r) = add_lines(made_.cells, line_bytes, r);
      }
    }
    bool const has_staging = layout_.staging_bytes != 0;
    for (rank_t r = 0; r < call_.ranks; ++r) {
      base(program::row_input, r) = add_array(r, 1, bytes_);
      base(program::row_output, r) = call_.storage.in_place ? base(program::row_input, r) : add_array(r, 1, bytes_);
      for (std::uint32_t parity = 0; has_staging && parity < 2; ++parity)
        base(program::row_staging + parity, r) = add_array(r, code_.layers, layout_.staging_bytes);
    }
  }

  std::uint32_t add_array(rank_t home, std::size_t layers, std::size_t bytes) {
    if (by_line_) return add_lines(made_.cells, bytes, home);
    auto const first = static_cast<std::uint32_t>(made_.cells.size());
    for (std::size_t layer = 0; layer < layers; ++layer)
      for (std::size_t b = 0; b < blocks(); ++b)
        made_.cells.push_back({lines_of((layout_.boundary[b + 1] - layout_.boundary[b]) * call_.element_bytes), home});
    return first;
  }

  byte_range piece_of(rank_t r) const {
    std::size_t const bytes = each_ * call_.element_bytes;
    return {r * bytes, (r + 1) * bytes};
  }
  byte_range part_of(rank_t r, detail::share of) const {
    if (of == detail::share::piece) return piece_of(r);
    return {0, of == detail::share::whole ? bytes_ : 0};
  }
  byte_range gives(rank_t r) const { return part_of(r, detail::gives(call_.verb, r == call_.root)); }
  byte_range gets(rank_t r) const { return part_of(r, detail::gets(call_.verb, r == call_.root)); }

  /// The cells of a caller's array that meet these bytes.
  std::vector<cell_range> cells_in(std::uint32_t row, rank_t r, byte_range which) {
    if (by_line_) {
      auto const lines = lines_between(base(row, r), which.begin, which.end);
      return lines ? std::vector{*lines} : std::vector<cell_range>{};
    }
    cell_range met{base(row, r), 0};
    for (std::uint32_t b = 0; b < blocks(); ++b) {
      std::size_t const begin = layout_.boundary[b] * call_.element_bytes,
                        end = layout_.boundary[b + 1] * call_.element_bytes;
      if (begin >= which.end || end <= which.begin) continue;
      if (met.count == 0) met.first = base(row, r) + b;
      ++met.count;
    }
    return met.count == 0 ? std::vector<cell_range>{} : std::vector{met};
  }

  void append(std::vector<cell_range>& to, program::operand const& o, instruction const& i, turn now, bool is_source) {
    program::place const& at = o.at(now.is_exchanged);
    std::uint32_t const row = at.base[now.parity] / call_.ranks;
    std::uint32_t const first = base(row, at.base[now.parity] % call_.ranks);
    std::size_t const begin = layout_.offset[at.piece],
                      bytes = (layout_.boundary[i.block_end] - layout_.boundary[i.block]) * call_.element_bytes;
    if (bytes == 0) return;
    if (row >= program::row_entry_line) {
      // What is stored beside a tag becomes visible with it.
      if (is_source || row >= program::row_second_line) to.push_back({first, 1});
    } else if (by_line_) {
      to.push_back(*lines_between(first, begin, begin + bytes));
    } else {
      auto const above = static_cast<std::uint32_t>(row >= program::row_staging ? blocks() : 0);
      to.push_back({first + at.piece - above, i.block_end - i.block});
    }
  }

  void append_look(script& s, rank_t at, std::uint32_t signal, std::uint32_t parity) const {
    bool const entry = signal == program::entry_signal;
    s.acts.push_back({.what = act_kind::look,
                      .line = entry ? entry_line(at, parity) : progress_line(at),
                      .value = static_cast<std::int64_t>(signal)});
  }

  script script_of(rank_t r, turn now) {
    program::program const& mine = code_.of[r];
    std::uint32_t const parity = now.parity;
    script s;
    // Who read this parity's lines two operations ago must have told so, or have begun the last one.
    if (!code_.full)
      for (program::reader const& q : mine.readers) {
        std::int64_t const operations_ago = q.tells_when_done ? 2 : 1;
        s.acts.push_back({.what = act_kind::look,
                          .line = entry_line(q.rank, q.tells_when_done ? parity : 1 - parity),
                          .value = static_cast<std::int64_t>(program::entry_signal) - operations_ago * made_.span});
      }
    std::uint32_t wait = 0;
    for (instruction const& i : mine.code) {
      for (; wait < i.waits_end; ++wait) append_look(s, mine.waits[wait].rank, mine.waits[wait].signal, parity);
      std::vector<cell_range> sources, destinations;
      for (std::uint32_t k = 0; i.destinations != 0 && k < i.sources; ++k)
        append(sources, mine.operands[i.operands + k], i, now, true);
      for (std::uint32_t k = i.sources; k < i.sources + i.destinations; ++k)
        append(destinations, mine.operands[i.operands + k], i, now, false);
      s.fold(sources, destinations, call_.storage.streams);
      if (i.signal == 0) continue;
      bool const entry = i.signal == program::entry_signal;
      s.acts.push_back({.what = act_kind::post,
                        .line = entry ? entry_line(r, parity) : progress_line(r),
                        .value = static_cast<std::int64_t>(i.signal)});
    }
    for (rank_t const q : mine.unmet) append_look(s, q, program::entry_signal, parity);
    return s;
  }

  program_call const& call_;
  compiled const code_;
  program::layout layout_;
  std::size_t each_ = 0;   ///< elements of one rank's piece
  std::size_t bytes_ = 0;  ///< of an array
  bool by_line_ = false;
  std::vector<std::uint32_t> bases_;  ///< [row · ranks + rank]: the first cell
  work made_;
};

}  // namespace

work work_of(program_call const& c) { return program_work(c).made(); }

}  // namespace coset::cache
