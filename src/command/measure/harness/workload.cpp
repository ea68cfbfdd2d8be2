// SPDX-License-Identifier: Apache-2.0
// Patterns, written and compared as words of the element's size.
#include "command/measure/harness/workload.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "command/measure/machine/pages.hpp"
#include "command/measure/machine/vector_levels.hpp"

namespace coset::measure {
namespace {

constexpr std::size_t pattern_items = period + few_items;
constexpr std::size_t alignment = 128;
constexpr std::size_t page = 4096;

constexpr std::array element_names{"int32", "int64", "float", "double"};  // in the enumerators' order
constexpr std::array operation_names{"sum", "prod", "min", "max", "repsum"};

template <class Enumerator, class Names>
Enumerator named(std::string_view name, Names const& names, std::string_view what) {
  auto const at = std::find(names.begin(), names.end(), name);
  if (at == names.end())
    throw argument_error(fmt::format("unknown {} '{}': one of {}", what, name, fmt::join(names, ", ")));
  return static_cast<Enumerator>(at - names.begin());
}

/// Never the identity of a sum, so that a missing contribution shows; factors are few powers of two, so that their
/// product fits any element type.
int value_of(operation_kind operation, rank_t rank, std::size_t phase) {
  if (operation == operation_kind::multiplies) return rank < 16 ? 1 + static_cast<int>((rank + phase) % 2) : 1;
  return static_cast<int>((3 * rank + phase) % period) + 1;
}

int fold(operation_kind operation, int a, int b) {
  switch (operation) {
    case operation_kind::plus:
    case operation_kind::reproducible_plus:
      return a + b;
    case operation_kind::multiplies:
      return a * b;
    case operation_kind::minimum:
      return std::min(a, b);
    case operation_kind::maximum:
      break;
  }
  return std::max(a, b);
}

/// Of ranks 0 to `last`.
int result_of(operation_kind operation, rank_t last, std::size_t phase) {
  int result = value_of(operation, 0, phase);
  for (rank_t r = 1; r <= last; ++r) result = fold(operation, result, value_of(operation, r, phase));
  return result;
}

template <class T>
void store(std::byte* to, int value) {
  auto const v = static_cast<T>(value);
  std::memcpy(to, &v, sizeof v);
}

void store(element_kind element, std::byte* to, int value) {
  switch (element) {
    case element_kind::int32:
      return store<std::int32_t>(to, value);
    case element_kind::int64:
      return store<std::int64_t>(to, value);
    case element_kind::float32:
      return store<float>(to, value);
    case element_kind::float64:
      return store<double>(to, value);
  }
}

template <class Word>
struct fill_body {
  [[gnu::always_inline]] static void run(std::byte* to, std::byte const* pattern, std::size_t count) {
    auto* words = reinterpret_cast<Word*>(to);
    std::array<Word, period> lanes;
    std::memcpy(lanes.data(), pattern, sizeof lanes);
    std::size_t i = 0;
    for (; i + period <= count; i += period) std::memcpy(words + i, lanes.data(), sizeof lanes);
    if (i < count) std::memcpy(words + i, lanes.data(), (count - i) * sizeof(Word));
  }
};

template <class Word>
struct check_body {
  [[gnu::always_inline]] static void run(std::byte const* from, std::byte const* pattern, std::size_t count,
                                         std::size_t* wrong) {
    auto const* words = reinterpret_cast<Word const*>(from);
    std::array<Word, period> expected, difference{};
    std::memcpy(expected.data(), pattern, sizeof expected);
    std::size_t i = 0;
    for (; i + period <= count; i += period) {
      for (std::size_t j = 0; j < period; ++j) difference[j] |= words[i + j] ^ expected[j];
    }
    for (; i < count; ++i) difference[i % period] |= words[i] ^ expected[i % period];
    if (std::all_of(difference.begin(), difference.end(), [](Word d) { return d == 0; })) return;
    for (i = 0; i < count; ++i) *wrong += words[i] != expected[i % period];
  }
};

template <template <class> class Body, class Signature>
auto for_word_of(std::size_t bytes) {
  return bytes == 4 ? vector_levels<Body<std::uint32_t>, Signature>::best()
                    : vector_levels<Body<std::uint64_t>, Signature>::best();
}

/// A row of the patterns: inputs of all ranks, then results of ranks 0 to r.
std::size_t row_of_result(problem const& p, rank_t r) {
  if (detail::is_from_root(p.what)) return 0;
  return detail::is_scan(p.what) ? p.ranks + r : 2 * p.ranks - 1;
}

}  // namespace

std::size_t problem::element_bytes() const noexcept {
  return element == element_kind::int32 || element == element_kind::float32 ? 4 : 8;
}

items piece_of(problem const& p, rank_t r) noexcept { return {p.count * r / p.ranks, p.count * (r + 1) / p.ranks}; }

namespace {

items part_of(problem const& p, rank_t r, detail::share of) noexcept {
  if (of == detail::share::piece) return piece_of(p, r);
  return {0, of == detail::share::whole ? p.count : 0};
}

}  // namespace

items gives(problem const& p, rank_t r) noexcept { return part_of(p, r, detail::gives(p.what, r == 0)); }
items gets(problem const& p, rank_t r) noexcept { return part_of(p, r, detail::gets(p.what, r == 0)); }

std::string_view name_of(element_kind e) noexcept { return element_names[static_cast<std::size_t>(e)]; }
std::string_view name_of(operation_kind o) noexcept { return operation_names[static_cast<std::size_t>(o)]; }
element_kind element_named(std::string_view name) { return named<element_kind>(name, element_names, "element type"); }
operation_kind operation_named(std::string_view name) {
  return named<operation_kind>(name, operation_names, "operation");
}

// Not touched here: the thread that writes a page first decides where it lies. Pages that nobody may use lie around each array,
// as the kernel joins neighbours, and a huge page of several comes from the node of whoever is the first in any of them. Arrays
// begin at different offsets in their pages, as a load waits for a store to the same offset in another: at random offsets 8 KiB
// take up to a fifth longer. No line, and no pair of lines, which prefetchers fetch together, has items of two arrays.
workload::buffer workload::allocate() {
  std::size_t const apart = std::max(page / (2 * shape_.ranks + 1) / alignment, std::size_t{1}) * alignment;
  std::size_t const skipped = allocated_++ * apart % page, of_system = numa::page_bytes();
  std::size_t const bytes = ((shape_.bytes() + skipped) / of_system + 1) * of_system;
  buffer made{numa::memory(of_system + bytes + of_system), nullptr, nullptr, bytes};
  made.pages = made.memory.data() + of_system;
  made.begin = made.pages + skipped;
  mprotect(made.memory.data(), of_system, PROT_NONE);
  mprotect(made.pages + bytes, of_system, PROT_NONE);
  return made;
}

// What a rank of this verb neither gives nor gets stays without memory.
void workload::touch(rank_t r) const noexcept {
  auto const clear = [&](buffer const& of, items what) {
    std::memset(of.begin, 0, (what.end - what.begin) * item_bytes_);
  };
  clear(inputs_[r], gives(shape_, r));
  clear(outputs_[r], gets(shape_, r));
  if (r == 0 && detail::shares_result(shape_.what)) std::memset(shared_output_.begin, 0, shape_.bytes());
}

std::map<unsigned, std::size_t> workload::pages_by_node(rank_t r) const {
  std::map<unsigned, std::size_t> found;
  for (auto const* const each : {&inputs_[r], &outputs_[r]}) count_pages(each->pages, each->bytes, found);
  return found;
}

workload::workload(problem const& s)
    : shape_(s),
      item_bytes_(s.element_bytes()),
      patterns_(2 * s.ranks * pattern_items * s.element_bytes()),
      fill_(for_word_of<fill_body, void(std::byte*, std::byte const*, std::size_t)>(s.element_bytes())),
      check_(for_word_of<check_body, void(std::byte const*, std::byte const*, std::size_t, std::size_t*)>(
          s.element_bytes())) {
  shared_output_ = allocate();
  for (rank_t row = 0; row < 2 * s.ranks; ++row) {
    for (std::size_t phase = 0; phase < pattern_items; ++phase) {
      auto const at = (row * pattern_items + phase) * s.element_bytes();
      int const value =
          row < s.ranks ? value_of(s.operation, row, phase) : result_of(s.operation, row - s.ranks, phase);
      store(s.element, patterns_.data() + at, value);
    }
  }
  for (rank_t r = 0; r < s.ranks; ++r) {
    inputs_.push_back(allocate());
    outputs_.push_back(allocate());
    given_.push_back(part_of(r, gives(s, r)));
    got_.push_back(part_of(row_of_result(s, r), gets(s, r)));
  }
}

std::byte const* workload::pattern_of(std::size_t row) const noexcept {
  return patterns_.data() + row * pattern_items * item_bytes_;
}

workload::part workload::part_of(std::size_t row, items which) const noexcept {
  return {pattern_of(row), which.begin, which.end - which.begin};
}

template <class Visit>
void workload::for_each_piece(rank_t r, Visit visit) const noexcept {
  for (rank_t q = 0; q < shape_.ranks && gets(shape_, r).end != 0; ++q)
    visit(part_of(q, piece_of(shape_, detail::swaps_pieces(shape_.what) ? r : q)),
          piece_of(shape_, q).begin * item_bytes_);
}

void workload::write_result(rank_t r) const noexcept {
  if (!comes_in_pieces()) return fill_(output(r), got_[r].at(0, item_bytes_), got_[r].count);
  for_each_piece(
      r, [&](part const& piece, std::size_t at) { fill_(output(r) + at, piece.at(0, item_bytes_), piece.count); });
}

std::size_t workload::wrong_pieces(rank_t r, std::byte const* result, std::size_t k) const noexcept {
  std::size_t found = 0;
  for_each_piece(r, [&](part const& piece, std::size_t at) {
    check_(result + at, piece.at(k, item_bytes_), piece.count, &found);
  });
  return found;
}

}  // namespace coset::measure
