// SPDX-License-Identifier: Apache-2.0
// Reading and writing algorithm texts, and looking them up.
#include "planning/schedule/registry/algorithm.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <charconv>
#include <iterator>
#include <memory>
#include <mutex>
#include <optional>

#include "base/text/format.hpp"
#include "base/text/suggestion.hpp"
#include "planning/schedule/core/verbs.hpp"
#include "planning/schedule/parts/part.hpp"
#include "planning/schedule/registry/foldings.hpp"
#include "planning/schedule/registry/named_file.hpp"
#include "planning/schedule/registry/named_fold.hpp"
#include "planning/schedule/registry/named_special.hpp"
#include "planning/schedule/registry/permutation.hpp"
#include "planning/schedule/registry/rows.hpp"

namespace coset::schedule {

namespace {

bool is_word(std::string_view text) {
  auto const letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; };
  return !text.empty() && std::all_of(text.begin(), text.end(), letter);
}

std::uint32_t number_in(std::string_view text, algorithm const& whole, std::string const& key) {
  std::uint32_t result = 0;
  auto const [end, failure] = std::from_chars(text.data(), text.data() + text.size(), result);
  if (failure != std::errc() || end != text.data() + text.size()) {
    bool const is_asked = key == "blocks" && text == "best";  // block_number.hpp's word, which only prices know
    throw schedule_error(whole.text() + ": " + key + " takes whole numbers, not '" + std::string(text) + "'" +
                         (is_asked ? "; `coset cost` finds the best one" : ""));
  }
  return result;
}

/// A default of 0 makes sense, too.
void require_numbers(algorithm const& given, parameter const& p) {
  if (p.least == parameter::no_number) return;
  bool const or_zero = p.least > 0 && p.default_value == "0";
  for (std::uint32_t const number : given.numbers(p.name)) {
    if (number >= p.least || (or_zero && number == 0)) continue;
    throw schedule_error(given.text() + ": " + p.name + " must be at least " + std::to_string(p.least) +
                         (or_zero ? ", or 0" : ""));
  }
}

/// The first verb of which this one can be derived that an algorithm serves by itself.
std::optional<verb> made_of(named_algorithm const& row, verb what) {
  for (verb const base : detail::row_of(what).derived_from)
    if (base != what && row.is_derived_from && !has_blocks(row) && serves(row, base)) return base;
  return {};
}

}  // namespace

/// Of one parameter: each stands for a rank at least.
constexpr std::size_t most_numbers = std::size_t{1} << 24;

std::string value_of(std::vector<rank_t> const& numbers, char between) {
  constexpr std::ptrdiff_t many = 8;
  std::string text;
  for (auto at = numbers.begin(); at != numbers.end();) {
    auto const end = std::find_if(at, numbers.end(), [&](rank_t n) { return n != *at; });
    bool const is_run = between == '+' && end - at > many;
    if (!text.empty()) text += between;
    text += std::to_string(*at) + (is_run ? '*' + std::to_string(end - at) : std::string());
    at = is_run ? end : at + 1;
  }
  return text;
}

algorithm algorithm::parse(std::string_view text) {
  auto const refuse = [&](std::string const& why) {
    throw schedule_error("cannot read the algorithm '" + std::string(text) + "': " + why +
                         "; write it like generalized(radix=4,saved_steps=1)");
  };
  auto const open = text.find('(');
  algorithm result{std::string(text.substr(0, open)), {}};
  if (!is_word(result.name)) refuse("a name has only lower-case letters, digits and _");
  if (open == std::string_view::npos) return result;
  if (text.back() != ')') refuse("the closing ) is missing");
  std::string_view rest = text.substr(open + 1, text.size() - open - 2);
  while (!rest.empty()) {
    auto const item = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), item.size() + 1));
    auto const equals = item.find('=');
    std::string const key(item.substr(0, equals));
    if (equals == std::string_view::npos || !is_word(key) || equals + 1 == item.size())
      refuse(std::string(item) + " is not key=value");
    if (!result.parameters.emplace(key, item.substr(equals + 1)).second) refuse(key + " is given twice");
  }
  return result;
}

std::string algorithm::text() const {
  std::string list;
  for (auto const& [key, value] : parameters) list += (list.empty() ? "" : ",") + key + "=" + value;
  return list.empty() ? name : name + "(" + list + ")";
}

std::string const& algorithm::value(std::string const& key) const {
  auto const found = parameters.find(key);
  if (found == parameters.end()) throw schedule_error(name + " needs the parameter " + key);
  return found->second;
}

std::uint32_t algorithm::number(std::string const& key) const { return number_in(value(key), *this, key); }

std::vector<std::uint32_t> algorithm::numbers(std::string const& key) const {
  std::vector<std::uint32_t> result;
  std::string_view const all = value(key);
  bool const is_order = key == permute;  // "stride:4" and "nodes:0.1.0.1", too
  std::size_t const first = is_order ? all.find(':') + 1 : 0;
  for (std::size_t begin = first, end = 0; end != std::string_view::npos; begin = end + 1) {
    end = all.find_first_of(is_order ? ".+" : "x+", begin);
    auto const item = all.substr(begin, end - begin);
    auto const times = key == "nodes" ? item.find('*') : std::string_view::npos;
    std::uint32_t const number = number_in(item.substr(0, times), *this, key);
    std::uint32_t const often = times == std::string_view::npos ? 1 : number_in(item.substr(times + 1), *this, key);
    if (often > most_numbers - result.size()) throw schedule_error(text() + ": more numbers than can be");
    result.insert(result.end(), often, number);
  }
  return result;
}

namespace {

std::vector<named_algorithm> all_algorithms() {
  std::vector<named_algorithm> rows;
  for (auto const family : {fold_algorithms, special_algorithms, file_algorithms})
    std::ranges::copy(family(), std::back_inserter(rows));
  for (named_algorithm& row : rows)
    for (verb const what : all_verbs())
      if (made_of(row, what)) row.verbs.push_back(what);
  return rows;
}

}  // namespace

/// Never destroyed: a rank may use it while another rank's exit() destroys static objects. By call_once(), whose order between
/// threads a sanitizer sees that does not see this library. It is made before, as no exception may leave call_once() where
/// there is no memory: the C library would end the program.
std::vector<named_algorithm> const& registry() {
  static std::once_flag once;
  static constinit std::atomic<std::vector<named_algorithm> const*> all = nullptr;
  std::unique_ptr<std::vector<named_algorithm>> made;
  if (all.load(std::memory_order_relaxed) == nullptr)
    made = std::make_unique<std::vector<named_algorithm>>(all_algorithms());
  std::call_once(once, [&] { all.store(made.release(), std::memory_order_relaxed); });
  return *all.load(std::memory_order_relaxed);
}

std::vector<named_algorithm> rows_of(std::span<algorithm_text const> texts) {
  std::vector<named_algorithm> rows;
  for (algorithm_text const& text : texts) {
    auto& row = rows.emplace_back(named_algorithm{
        text.name, text.summary, text.source, {}, {}, text.make, text.least, text.along, text.trials, text.not_chosen});
    for (verb const what : all_verbs())
      if (has_schedules(what) && !is_derived(what) && text.serves(what)) row.verbs.push_back(what);
    for (auto const& [name, default_value, meaning, least, passed_on] : text.parameters)
      row.parameters.push_back({name, default_value, meaning, least, passed_on});
  }
  return rows;
}

named_algorithm const& find_algorithm(std::string_view name) {
  std::vector<std::string> known;
  for (named_algorithm const& row : registry()) {
    if (row.name == name) return row;
    known.push_back(row.name);
  }
  throw schedule_error("unknown algorithm '" + std::string(name) + "'; there are " + text::joined(known, ", ") +
                       text::did_you_mean(name, known));
}

namespace {
constinit std::atomic<std::size_t> most_blocks = std::size_t{1} << 26;  // 8,192 of each of 8,192 ranks: 4.7 GiB
}

room_limit::room_limit(std::size_t blocks) : before_(most_blocks.exchange(blocks)) {}
room_limit::~room_limit() { most_blocks = before_; }

bool has_room(rank_t ranks, std::size_t blocks) { return ranks * blocks <= most_blocks; }

void require_room(rank_t ranks, std::size_t blocks) {
  if (has_room(ranks, blocks)) return;
  std::size_t const most = most_blocks;
  throw no_room(std::to_string(ranks) + " ranks with " + std::to_string(blocks) +
                " blocks each are too many to write out: at most " + std::to_string(most) + " blocks in all, such as " +
                std::to_string(std::size_t{1} << (std::bit_width(most) - 1) / 2) +
                " ranks where every rank owns one, or more with fewer blocks");
}

bool serves(named_algorithm const& row, verb what) { return std::ranges::find(row.verbs, what) != row.verbs.end(); }

bool has_blocks(named_algorithm const& row) {
  return std::ranges::any_of(row.parameters, [](parameter const& p) { return p.name == "blocks" && !p.passed_on; });
}

void require_verb(named_algorithm const& row, verb what) {
  if (serves(row, what)) return;
  std::string served;
  for (verb const v : row.verbs) served += (served.empty() ? "" : ", ") + std::string(name_of(v));
  throw schedule_error(row.name + " does not serve " + std::string(name_of(what)) + "; it serves " + served);
}

algorithm completed(algorithm given) {
  named_algorithm const& row = find_algorithm(given.name);
  std::vector<std::string> known;
  for (parameter const& p : row.parameters) known.push_back(p.name);
  known.emplace_back(permute);
  for (auto const& entry : given.parameters)
    if (std::ranges::find(known, entry.first) == known.end())
      throw schedule_error(given.name + " has no parameter " + entry.first + "; it takes " + text::joined(known, ", ") +
                           text::did_you_mean(entry.first, known));
  for (parameter const& p : row.parameters)
    if (!p.default_value.empty()) given.parameters.try_emplace(p.name, p.default_value);
  return given;
}

algorithm between_of(algorithm const& given) {
  algorithm between{given.value("between"), {}};
  auto const& taken = find_algorithm(between.name).parameters;
  for (parameter const& p : find_algorithm(given.name).parameters) {
    if (!p.passed_on) continue;
    bool const is_default = given.value(p.name) == p.default_value;
    auto const there = std::ranges::find(taken, p.name, &parameter::name);
    if (there != taken.end()) {
      if (!is_default || there->default_value.empty()) between.parameters[p.name] = given.value(p.name);
    } else if (!is_default)
      throw schedule_error(given.text() + ": " + between.name + " has no parameter " + p.name + "; leave it out");
  }
  return between;
}

void require_sense(algorithm const& given) {
  algorithm const whole = completed(given);
  for (parameter const& p : find_algorithm(given.name).parameters)
    if (whole.parameters.contains(p.name)) require_numbers(whole, p);
  if (whole.parameters.contains("between")) (void)between_of(whole);
  for (parameter const& p : find_algorithm(given.name).parameters) {
    bool const stands_for_another = p.name == "tree" || (p.name == "nodes" && whole.parameters.contains("tree"));
    if (p.default_value.empty() && !stands_for_another) (void)whole.value(p.name);
  }
  require_readable_chain(whole);
  (void)permutation_of(whole, 0);
}

schedule make(algorithm const& given, rank_t ranks, verb what, rank_t root) {
  if (ranks == 0) throw schedule_error(given.name + " needs at least one rank");
  require_room(ranks, 1);
  if (root >= ranks)
    throw schedule_error("root " + std::to_string(root) + " is none of " + std::to_string(ranks) + " ranks");
  named_algorithm const& row = find_algorithm(given.name);
  require_verb(row, what);
  if (is_derived(what)) require_room(ranks, ranks);  // before pieces are cut out of the whole
  algorithm const whole = completed(given);
  auto const order = permutation_of(whole, ranks);
  bool const moves = !std::ranges::is_sorted(order);
  if (moves && detail::is_scan(what))
    throw schedule_error("scans have one order of the ranks, their own; leave permute out");
  auto const player = moves ? static_cast<rank_t>(std::ranges::find(order, root) - order.begin()) : root;
  verb const base = made_of(row, what).value_or(what);
  // An all_to_all tells pieces by the distance between ranks, which has to be that of the ranks in their order.
  bool const moves_first = moves && detail::swaps_pieces(what);
  if (moves_first && base == what)
    throw schedule_error(whole.text() + ": an all_to_all as it is has one order of ranks");
  schedule result = row.make(whole, ranks, base, player);
  result.verb = base;
  result.root = detail::is_rooted(base) ? std::optional(player) : std::nullopt;
  if (auto const positions = block_positions(whole, result.blocks.size(), what); !positions.empty())
    move_blocks(result, positions);
  if (moves_first) permute_ranks(result, order);
  if (base != what) result = derive(std::move(result), what, player);
  if (moves && !moves_first) permute_ranks(result, order);
  result.algorithm = whole.name;
  result.parameters = whole.parameters;
  return result;
}

}  // namespace coset::schedule
