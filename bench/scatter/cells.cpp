// SPDX-License-Identifier: Apache-2.0
#include "bench/scatter/cells.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <initializer_list>
#include <iterator>

#include "coset/error.hpp"

namespace coset::measure {
namespace {

constexpr std::size_t ki = std::size_t{1} << 10, mi = ki << 10;
constexpr std::size_t most_updates = 256 * mi;

constexpr std::array<std::string_view, 5> distributions = {"uniform", "zipf", "window", "sorted", "grouped"};
constexpr std::array<std::string_view, 2> elements = {"f64", "u32"};

template <class Enumerator, std::size_t N>
Enumerator named(std::string_view word, std::array<std::string_view, N> const& names) {
  auto const at = std::ranges::find(names, word);
  if (at == names.end()) throw argument_error(fmt::format("'{}' is none of {}", word, fmt::join(names, ", ")));
  return static_cast<Enumerator>(at - names.begin());
}

double number(std::string_view word) {
  double found = 0;
  auto const [end, failed] = std::from_chars(word.data(), word.data() + word.size(), found);
  std::string_view const unit(end, static_cast<std::size_t>(word.data() + word.size() - end));
  if (failed != std::errc() || !(unit.empty() || unit == "Ki" || unit == "Mi"))
    throw argument_error(fmt::format("'{}' is not a number with Ki, Mi or nothing behind it", word));
  return found * static_cast<double>(unit == "Ki" ? ki : unit == "Mi" ? mi : 1);
}

cell made(std::size_t length, double per_element, distribution keys, element type) {
  return {length, static_cast<std::size_t>(std::llround(static_cast<double>(length) * per_element)), per_element, keys,
          type};
}

std::string short_length(std::size_t length) {
  if (length % mi == 0) return fmt::format("{}Mi", length / mi);
  return length % ki == 0 ? fmt::format("{}Ki", length / ki) : fmt::format("{}", length);
}

void add(std::vector<cell>& to, std::size_t length, std::initializer_list<double> all,
         std::initializer_list<distribution> where, element type = element::f64) {
  for (distribution const keys : where)
    for (double const per_element : all) to.push_back(made(length, per_element, keys, type));
}

}  // namespace

std::string_view name_of(distribution keys) { return distributions[static_cast<std::size_t>(keys)]; }

std::string cell::name() const {
  return fmt::format("{}:{}:{}:{}", short_length(length), per_element, name_of(keys),
                     elements[static_cast<std::size_t>(type)]);
}

cell cell_from(std::string_view text) {
  std::vector<std::string_view> words;
  for (std::size_t begin = 0; begin <= text.size();) {
    std::size_t const end = std::min(text.find(':', begin), text.size());
    words.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  if (words.size() < 2 || words.size() > 4)
    throw argument_error(fmt::format("'{}' is not length:updates per element:keys:elements", text));
  cell const found = made(static_cast<std::size_t>(number(words[0])), number(words[1]),
                          words.size() > 2 ? named<distribution>(words[2], distributions) : distribution::uniform,
                          words.size() > 3 ? named<element>(words[3], elements) : element::f64);
  if (found.length == 0 || found.length > 256 * mi || found.updates == 0 || found.updates > most_updates)
    throw argument_error(fmt::format("'{}' has {} updates of {} elements; 1 to 256 Mi of either are played", text,
                                     found.updates, found.length));
  return found;
}

std::vector<cell> grid_cells(bool huge) {
  std::vector<cell> all;
  for (element const type : {element::f64, element::u32})
    for (std::size_t const length : {ki, 16 * ki, 128 * ki, mi, 4 * mi, 16 * mi, 64 * mi, 256 * mi}) {
      if (length > 64 * mi && !(huge && type == element::u32)) continue;
      for (double const per_element : {1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1., 10., 100.}) {
        double const updates = per_element * static_cast<double>(length);
        if (updates < 1 || updates > static_cast<double>(most_updates)) continue;
        add(all, length, {per_element},
            {distribution::uniform, distribution::zipf, distribution::window, distribution::sorted,
             distribution::grouped},
            type);
      }
    }
  return all;
}

std::vector<cell> document_cells() {
  using enum distribution;
  std::vector<cell> all;
  add(all, ki, {.1, 1, 10, 100}, {uniform});
  add(all, 16 * ki, {.01, .1, 1, 10, 100}, {uniform});
  add(all, 128 * ki, {.001, .01, .1, 2, 20}, {uniform});
  add(all, mi, {1e-4, .01, .1, 2, 20}, {uniform});
  add(all, 16 * mi, {1e-5, 1e-4, 1e-3, .01, .125, 1, 4}, {uniform});
  add(all, 64 * mi, {1e-6, 1e-4, 1e-3, .01, .1, 1}, {uniform});
  add(all, 16 * ki, {10}, {zipf, sorted});
  add(all, mi, {.1, 2}, {zipf, window, sorted, grouped});
  add(all, 16 * mi, {1e-3, .125}, {zipf, sorted, grouped});
  add(all, 64 * mi, {1e-4, .01, .1}, {zipf, window});
  add(all, 64 * mi, {.01}, {sorted, grouped});
  add(all, 16 * ki, {1, 100}, {uniform}, element::u32);
  add(all, mi, {.1, 10}, {uniform}, element::u32);
  add(all, 16 * mi, {1e-3, .125}, {uniform}, element::u32);
  add(all, 64 * mi, {.01}, {uniform, window}, element::u32);
  return all;
}

std::vector<cell> smoke_cells() {
  using enum distribution;
  std::vector<cell> all;
  add(all, ki, {10}, {uniform, zipf, window, sorted, grouped});
  add(all, 128 * ki, {.1, 1}, {uniform}, element::f64);
  add(all, 128 * ki, {.1}, {uniform, zipf}, element::u32);
  return all;
}

}  // namespace coset::measure
