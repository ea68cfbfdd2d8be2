// SPDX-License-Identifier: Apache-2.0
// Several arrays and values in one operation: they are copied into rows, and the rows are reduced as elements.
#include "coset/detail/joint_call.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/text/format.hpp"
#include "planning/plan/bound_plan.hpp"
#include "runtime/calls/checks.hpp"
#include "runtime/calls/joint.hpp"
#include "runtime/failure/argument_check.hpp"
#include "runtime/rank_state.hpp"
#include "runtime/requests.hpp"

namespace coset::inline COSET_ABI::detail {

using runtime::packed_line;

namespace {

/// Where there are several rows, each begins with its number: a fold has to know how much of a row is filled, and is told
/// addresses only.
using row_number = std::uint64_t;

/// Elements side by side in a row of one kind, which one fold takes: of one part, or of several that are folded alike.
struct joint_run {
  joint_part const* first;
  std::size_t count;
};

/// How parts lie in rows, for the folds; which are given its address as that of the operation.
struct joint_layout {
  joint_layout() : joint_layout({}, nullptr, 0) {}
  /// Does not clear the runs, which would take as long as a short call does in all.
  joint_layout(std::span<joint_part const> of, reduction_table const* by, std::size_t in_rows) noexcept
      : parts(of), table(by), rows(in_rows) {}

  std::span<joint_part const> parts;
  std::array<joint_run, 16> runs;  ///< of the one row, if there are so few
  std::size_t number_of_runs = 0;  ///< 0: each part by itself
  reduction_table const* table;
  std::size_t rows;
  std::byte* packed = nullptr;
  runtime::floating_point_mode const* mode = nullptr;  ///< the team's: elements may travel in another type

  std::size_t row_bytes() const noexcept { return table->element_bytes; }
  std::size_t bytes() const noexcept { return rows * row_bytes(); }
  bool numbers_rows() const noexcept { return rows > 1; }
};

/// Elements of a part in a row.
std::size_t filled(joint_part const& part, std::size_t row) noexcept {
  std::size_t const before = row * part.slice;
  return before < part.count ? std::min(part.slice, part.count - before) : 0;
}

/// Nothing that callers have written tells such parts apart.
bool are_folded_alike(joint_part const& a, joint_part const& b) noexcept {
  return a.travelling.table == b.travelling.table && a.travelling.table->code.computes != arithmetic::any;
}

/// Adds a part to the runs, which lies behind the last one if `goes_on`; false if there is no room for one more.
bool add_to_runs(joint_layout& all, joint_part const& part, bool goes_on) noexcept {
  if (!goes_on || all.number_of_runs == 0 || !are_folded_alike(*all.runs[all.number_of_runs - 1].first, part)) {
    if (all.number_of_runs == all.runs.size()) return false;
    all.runs[all.number_of_runs++] = {&part, 0};
  }
  all.runs[all.number_of_runs - 1].count += part.slice;
  return true;
}

void find_runs(joint_layout& all) noexcept {
  if (all.rows != 1) return;
  std::size_t end = 0;  // of the last run, in bytes
  for (joint_part const& part : all.parts) {
    if (part.slice == 0) continue;
    if (!add_to_runs(all, part, part.at == end)) {
      all.number_of_runs = 0;
      return;
    }
    end = part.at + part.slice * part.travelling.table->element_bytes;
  }
}

/// `count` elements from where `first` lies in one row of each array, `offset` bytes into it.
void fold_elements(joint_part const& first, std::size_t count, std::span<void* const> to,
                   std::span<void const* const> from, std::size_t offset) {
  std::array<void*, max_fused_sources> destinations;
  std::array<void const*, max_fused_sources> sources;
  auto const number = static_cast<std::uint32_t>(from.size());
  for (std::size_t d = 0; d < to.size(); ++d) destinations[d] = static_cast<std::byte*>(to[d]) + offset + first.at;
  for (std::size_t s = 0; s < from.size(); ++s) sources[s] = static_cast<std::byte const*>(from[s]) + offset + first.at;
  first.travelling.table->folds->for_sources(number)(first.travelling.operation, destinations.data(),
                                                     static_cast<std::uint32_t>(to.size()), sources.data(), number,
                                                     count);
}

/// One row of each array: of no more arrays than one pass of a fold takes.
void fold_row(joint_layout const& all, std::size_t row, std::span<void* const> to, std::span<void const* const> from,
              std::size_t offset) {
  for (joint_run const& run : std::span(all.runs).first(all.number_of_runs))
    fold_elements(*run.first, run.count, to, from, offset);
  if (all.number_of_runs > 0) return;
  for (joint_part const& part : all.parts)
    if (std::size_t const count = filled(part, row); count > 0) fold_elements(part, count, to, from, offset);
  if (!all.numbers_rows()) return;
  row_number const same = row;
  for (void* const there : to) std::memcpy(static_cast<std::byte*>(there) + offset, &same, sizeof(same));
}

/// The same for any number of arrays. A destination may be one of the last sources.
void fold_row_by_tile(joint_layout const& all, std::size_t row, std::span<void* const> to,
                      std::span<void const* const> from, std::size_t offset) {
  alignas(64) std::array<std::byte, longest_row> tile;
  std::memset(tile.data(), 0, all.row_bytes());  // the gaps between parts travel, too
  std::array<void*, 1> const into_tile{tile.data()};
  std::array<void const*, max_fused_sources> sources;
  for (std::size_t done = 0; done < from.size();) {
    std::size_t const kept = done > 0 ? 1 : 0;  // the tile itself
    std::size_t const now = std::min(from.size() - done, sources.size() - kept);
    sources[0] = tile.data();
    for (std::size_t s = 0; s < now; ++s) sources[kept + s] = static_cast<std::byte const*>(from[done + s]) + offset;
    fold_row(all, row, into_tile, std::span(sources).first(kept + now), 0);
    done += now;
  }
  for (void* const there : to) std::memcpy(static_cast<std::byte*>(there) + offset, tile.data(), all.row_bytes());
}

/// The fold_function of rows.
void fold_rows(void const* context, void* const* to, std::uint32_t destinations, void const* const* from,
               std::uint32_t sources, std::size_t count) {
  auto const& all = *static_cast<joint_layout const*>(context);
  bool const in_one_pass = sources <= max_fused_sources && destinations <= max_fused_sources;
  auto const fold = in_one_pass ? fold_row : fold_row_by_tile;
  for (std::size_t offset = 0; offset < count * all.row_bytes(); offset += all.row_bytes()) {
    row_number row = 0;
    if (all.numbers_rows()) std::memcpy(&row, static_cast<std::byte const*>(from[0]) + offset, sizeof(row));
    fold(all, row, {to, destinations}, {from, sources}, offset);
  }
}

constexpr fold_set folds_of_rows = [] {
  fold_set set{};
  set.any = fold_rows;
  set.of.fill(fold_rows);
  return set;
}();

/// The copies of an array of this length take about as long as the rounds of a call of its own.
constexpr std::size_t longest_copied = 4096;

constexpr std::size_t round_up(std::size_t value, std::size_t to) { return (value + to - 1) / to * to; }

/// Cuts the parts into slices for so many rows; returns the bytes of a row.
std::size_t cut(std::span<joint_part> parts, std::size_t rows) {
  std::size_t bytes = rows > 1 ? sizeof(row_number) : 0;
  for (joint_part& part : parts) {
    part.slice = part.stays ? 0 : rows == 1 ? part.count : (part.count + rows - 1) / rows;
    part.at = round_up(bytes, part.alignment);
    bytes = part.at + part.slice * part.travelling.table->element_bytes;
  }
  return bytes;
}

/// Rows of equal size for all parts. The same on all ranks, as it depends on types and lengths only.
joint_layout laid_out(joint_kind const& kind, std::span<joint_part> parts) {
  std::size_t all = 0, alignment = 1;
  for (joint_part const& part : parts) {
    if (part.stays) continue;
    all += part.count * part.travelling.table->element_bytes;
    alignment = std::max(alignment, part.alignment);
  }
  std::size_t rows = (all + longest_row - 1) / longest_row;
  std::size_t bytes = rows > 0 ? cut(parts, rows) : 0;
  while (bytes > longest_row) bytes = cut(parts, rows += rows / 64 + 1);
  std::size_t size = 0;
  while (row_sizes[size] < bytes || row_sizes[size] % alignment != 0) ++size;
  joint_layout made(parts, &kind.table(size), rows);
  find_runs(made);
  return made;
}

/// Whether each lies behind the one before, or before it, so that no two overlap.
bool are_in_a_row(std::span<joint_part const> parts) noexcept {
  bool up = true, down = true;
  for (std::size_t p = 1; p < parts.size() && (up || down); ++p) {
    auto const a = reinterpret_cast<std::uintptr_t>(parts[p - 1].place),
               b = reinterpret_cast<std::uintptr_t>(parts[p].place);
    up = up && a + parts[p - 1].count * parts[p - 1].element_bytes <= b;
    down = down && b + parts[p].count * parts[p].element_bytes <= a;
  }
  return up || down;
}

/// Comes before rows are written: they may be those of a call under way. The arrays are compared here, as the ranks see
/// each other's rows only. Cost: a few comparisons for each pair, unless they lie in a row.
void check_call(rank_state& me, std::span<joint_part const> parts) {
  runtime::require_current(me);
  for (joint_part const& part : parts) require_array(me, verb::allreduce, part.place, part.count, "array");
  if (are_in_a_row(parts)) return;
  for (std::size_t p = 1; p < parts.size(); ++p) {
    auto const a = reinterpret_cast<std::uintptr_t>(parts[p].place);
    std::size_t const a_bytes = parts[p].count * parts[p].element_bytes;
    for (std::size_t q = 0; q < p; ++q) {
      auto const b = reinterpret_cast<std::uintptr_t>(parts[q].place);
      std::size_t const b_bytes = parts[q].count * parts[q].element_bytes;
      bool const overlap = a_bytes > 0 && b_bytes > 0 && a < b + b_bytes && b < a + a_bytes;
      if (overlap) [[unlikely]]
        refuse(me, text::format("together: arrays {} and {} of rank {} overlap: {} bytes from {} and {} bytes from {}",
                                q + 1, p + 1, me.number, b_bytes, parts[q].place, a_bytes, parts[p].place));
    }
  }
}

constexpr std::size_t word_bytes = sizeof(std::uint64_t);

/// Whether an element is a word that travels as it is.
bool is_word(joint_part const& part) noexcept {
  return part.element_bytes == word_bytes && part.own.table == part.travelling.table;
}

void copy_word(void* to, void const* from) noexcept {
  std::uint64_t word;
  std::memcpy(&word, from, sizeof(word));
  std::memcpy(to, &word, sizeof(word));
}

/// Copies the callers' arrays into rows at `to`, which has room for them.
void pack(rank_state const& me, joint_layout& all, std::byte* to) {
  all.packed = to;
  all.mode = &me.shared.mode();
  runtime::computing_in const mode(*all.mode, all.table->code.computes);
  joint_part const& last = all.parts.back();
  for (std::size_t row = 0; row < all.rows; ++row, to += all.row_bytes()) {
    row_number const number = row;
    if (all.numbers_rows()) std::memcpy(to, &number, sizeof(number));
    for (joint_part const& part : all.parts) {
      auto const* const from = static_cast<std::byte const*>(part.place) + row * part.slice * part.element_bytes;
      if (std::size_t const count = filled(part, row); count > 0) part.pack(to + part.at, from, count);
    }
    std::size_t const end = last.at + last.slice * last.travelling.table->element_bytes;
    std::memset(to + end, 0, all.row_bytes() - end);
  }
}

void unpack(joint_layout const& all) noexcept {
  runtime::computing_in const mode(*all.mode, all.table->code.computes);
  std::byte const* from = all.packed;
  for (std::size_t row = 0; row < all.rows; ++row, from += all.row_bytes()) {
    for (joint_part const& part : all.parts) {
      auto* const to = static_cast<std::byte*>(part.place) + row * part.slice * part.element_bytes;
      if (std::size_t const count = filled(part, row); count > 0) part.unpack(to, from + part.at, count);
    }
  }
}

/// Room for rows that only grows.
std::byte* room_in(std::vector<packed_line>& lines, std::size_t bytes) {
  std::size_t const needed = bytes / sizeof(packed_line) + 1;
  if (lines.size() < needed) lines.resize(needed);
  return lines.front().bytes.data();
}

/// Lengths of parts: in the place of pieces' lengths, so that ranks have to agree on them, and messages tell them.
class part_lengths {
 public:
  explicit part_lengths(std::span<joint_part const> parts) {
    if (parts.size() > few_.size()) many_.resize(parts.size());
    std::span<std::size_t> const room = many_.empty() ? std::span(few_).first(parts.size()) : std::span(many_);
    for (std::size_t p = 0; p < parts.size(); ++p) room[p] = parts[p].count;
    all_ = room;
  }
  part_lengths(part_lengths const&) = delete;
  part_lengths& operator=(part_lengths const&) = delete;

  operator std::span<std::size_t const>() const noexcept { return all_; }

 private:
  std::array<std::size_t, 16> few_;  ///< no allocation
  std::vector<std::size_t> many_;
  std::span<std::size_t const> all_;
};

call call_of(joint_layout const& all, std::span<std::size_t const> lengths) {
  return {.what = verb::allreduce,
          .in = all.packed,
          .out = all.packed,
          .count = all.rows,
          .reduction = all.table,
          .operation = &all,
          .counts = lengths};
}

/// A few values, the most frequent of such calls: words that travel as they are, each in memory behind the one before or before it,
/// in one row, laid out as laid_out() has it, since other ranks' may lie otherwise. All else that is checked of arrays goes without
/// saying. run_rows(layout, lengths) is to combine them. False, and nothing is done, of other parts.
template <class Run>
bool run_words(rank_state& me, joint_kind const& kind, std::span<joint_part> parts, Run const& run_rows) {
  static constexpr std::array<std::size_t, 16> ones{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
  if (parts.size() > ones.size()) return false;
  runtime::require_current(me);
  std::size_t size = 0;
  while (row_sizes[size] < parts.size() * word_bytes) ++size;
  joint_layout all(parts, &kind.table(size), 1);
  all.packed = room_in(me.memory.packed, all.bytes());
  std::size_t at = 0;
  bool up = true, down = true;
  for (joint_part& part : parts) {
    if (part.count != 1 || part.place == nullptr || !is_word(part)) return false;
    copy_word(all.packed + at, part.place);
    part.at = at;
    part.slice = 1;
    add_to_runs(all, part, true);
    if (at > 0) {
      auto const distance = static_cast<std::byte*>(part.place) - static_cast<std::byte*>((&part - 1)->place);
      up = up && distance >= static_cast<std::ptrdiff_t>(word_bytes);
      down = down && distance <= -static_cast<std::ptrdiff_t>(word_bytes);
    }
    at += word_bytes;
  }
  if (!up && !down) return false;
  std::memset(all.packed + at, 0, all.bytes() - at);
  run_rows(all, std::span(ones).first(parts.size()));
  for (joint_part const& part : parts) copy_word(part.place, all.packed + part.at);
  return true;
}

/// An operation in split phase: its own copy of everything.
struct started_joint {
  std::vector<joint_part> parts;
  std::shared_ptr<void const> operations;
  std::vector<packed_line> lines;
  joint_layout layout;
};

/// What a rank has no memory for, all are told. To be called while that is handled.
[[noreturn]] void lack_memory(rank_state& me, std::span<joint_part const> parts) {
  std::size_t bytes = 0;
  for (joint_part const& part : parts) bytes += part.count * part.element_bytes;
  runtime::fail_for_memory(me, verb::allreduce, bytes);
}

}  // namespace

joint_kind::joint_kind(std::initializer_list<reduction_table const*> parts) {
  reduction_table of_all;
  of_all.folds = &folds_of_rows;
  of_all.hash = hash_of("rows");
  of_all.exact = of_all.idempotent = true;
  of_all.code.computes = arithmetic::integer;
  for (reduction_table const* const part : parts) {
    of_all.hash = planning::mixed(of_all.hash, part->hash);
    of_all.exact = of_all.exact && part->exact;
    of_all.commutative = of_all.commutative && part->commutative;
    of_all.idempotent = of_all.idempotent && part->idempotent;
    of_all.code.computes = std::min(of_all.code.computes, part->code.computes);
  }
  try {
    for (reduction_table const* const part : parts) {
      types_ += (types_.empty() ? "rows of " : ", ") + std::string(part->type);
      operations_ += (operations_.empty() ? "" : ", ") + std::string(part->operation);
    }
  } catch (std::bad_alloc const&) {  // it is made before a call can tell all ranks that memory is short
    types_ = "rows";
    operations_.clear();
  }
  of_all.type = types_;
  of_all.operation = operations_;
  for (std::size_t s = 0; s < row_sizes.size(); ++s) {
    tables_[s] = of_all;
    tables_[s].element_bytes = tables_[s].partial_bytes = row_sizes[s];
    tables_[s].hash = planning::mixed(of_all.hash, row_sizes[s]);
  }
}

void run_joint(rank_state& me, joint_kind const& kind, std::span<joint_part> parts) try {
  auto const call_verb = [&](joint_layout const& rows, std::span<std::size_t const> lengths) {
    run(me, call_of(rows, lengths));
  };
  if (run_words(me, kind, parts, call_verb)) return;
  check_call(me, parts);
  for (joint_part& part : parts) part.stays = part.count * part.element_bytes > longest_copied;
  joint_layout all = laid_out(kind, parts);
  pack(me, all, room_in(me.memory.packed, all.bytes()));
  part_lengths const lengths(parts);
  call_verb(all, lengths);  // with no rows, too: the ranks find out here whether they agree
  unpack(all);
  for (joint_part const& part : parts) {
    if (!part.stays) continue;
    run(me, {.what = verb::allreduce,
             .in = part.place,
             .out = part.place,
             .count = part.count,
             .reduction = part.own.table,
             .operation = part.own.operation});
  }
} catch (std::bad_alloc const&) {
  lack_memory(me, parts);
}

request start_joint(rank_state& me, joint_kind const& kind, std::span<joint_part const> parts,
                    std::shared_ptr<void const> operations) try {
  check_call(me, parts);
  if (operations == nullptr) throw std::bad_alloc();
  auto const started = std::make_shared<started_joint>();
  started->parts.assign(parts.begin(), parts.end());
  started->operations = std::move(operations);
  joint_layout& all = started->layout = laid_out(kind, started->parts);
  pack(me, all, room_in(started->lines, all.bytes()));
  part_lengths const lengths(parts);
  call c = call_of(all, lengths);
  c.deliver = [](void const* layout, void*) noexcept { unpack(*static_cast<joint_layout const*>(layout)); };
  return start(me, c, std::shared_ptr<void const>(started, &all));
} catch (std::bad_alloc const&) {
  lack_memory(me, parts);
}

std::shared_ptr<bound_plan const> plan_of_rows(
    joint_kind const& kind, std::span<joint_part> parts,
    std::function<std::shared_ptr<bound_plan const>(call const&)> const& made_for) {
  joint_layout all = laid_out(kind, parts);
  std::byte one_array;  // stands for the rows
  all.packed = &one_array;
  part_lengths const lengths(parts);
  return made_for(call_of(all, lengths));
}

void execute_joint(rank_state& me, plan_pair const& plans, joint_kind const& kind, std::span<joint_part> parts) try {
  auto const execute_plan = [&](joint_layout const& rows, std::span<std::size_t const> given) {
    std::vector<std::size_t> const& planned = plans.in_place->counts;
    if (!std::ranges::equal(given, planned))
      refuse(me, text::format("plan: arrays of [{}] elements, planned for [{}]", text::joined(given, ", "),
                              text::joined(planned, ", ")));
    execute(me, plans, {rows.packed, rows.rows, rows.packed, rows.rows}, &rows);
  };
  if (run_words(me, kind, parts, execute_plan)) return;
  check_call(me, parts);
  joint_layout all = laid_out(kind, parts);
  pack(me, all, room_in(me.memory.packed, all.bytes()));
  execute_plan(all, part_lengths(parts));
  unpack(all);
} catch (std::bad_alloc const&) {
  lack_memory(me, parts);
}

}  // namespace coset::detail
