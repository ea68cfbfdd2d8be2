// SPDX-License-Identifier: Apache-2.0
// Drawing schedules.
#include "study/draw.hpp"

#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <map>
#include <span>
#include <tuple>
#include <utility>

#include "schedule/core/association.hpp"
#include "study/number_runs.hpp"
#include "text/format.hpp"

namespace coset::schedule {
namespace {

using numbers = std::vector<std::uint32_t>;

void make_set(numbers& some) {
  std::ranges::sort(some);
  some.erase(std::unique(some.begin(), some.end()), some.end());
}

/// Whose contributions each value holds, followed from the inputs.
class contributions {
 public:
  explicit contributions(rank_t ranks) : ranks_(ranks), values_(ranks) {}

  numbers add(schedule const& drawn, assignment const& a) {
    auto const from = drawn.from(a);
    bracketings::value made = value_of(from[0], a.block);
    for (source const& s : from.subspan(1)) made = values_.fold(made, value_of(s, a.block));
    made_[{a.rank, a.block, a.slot}] = made;
    return ranks_in(values_.contributors(made));
  }

 private:
  bracketings::value value_of(source const& s, block_t b) const {
    return s.slot == 0 ? s.rank : made_.at({s.rank, b, s.slot});
  }

  numbers ranks_in(std::span<std::uint64_t const> bits) const {
    numbers found;
    for (rank_t r = 0; r < ranks_; ++r)
      if (bits[r / 64] >> r % 64 & 1) found.push_back(r);
    return found;
  }

  rank_t ranks_;
  bracketings values_;
  std::map<std::tuple<rank_t, block_t, slot_t>, bracketings::value> made_;
};

std::string title(schedule const& drawn) {
  std::string parameters;
  for (auto const& [key, value] : drawn.parameters)
    parameters += text::format("{}{}={}", parameters.empty() ? "(" : ",", key, value);
  if (!parameters.empty()) parameters += ")";
  return text::format("{} by {}{}: {} ranks, {} blocks", name_of(drawn.verb), drawn.algorithm, parameters, drawn.ranks,
                      drawn.blocks.size());
}

// Names of files and plans of others may have anything in them.
std::string escaped(std::string const& plain, std::initializer_list<std::pair<char, char const*>> forbidden) {
  std::string text;
  for (char const c : plain) {
    auto const found = std::ranges::find(forbidden, c, &std::pair<char, char const*>::first);
    found == forbidden.end() ? text.push_back(c) : void(text += found->second);
  }
  return text;
}

std::string for_dot(std::string const& plain) { return escaped(plain, {{'"', "\\\""}, {'\\', "\\\\"}}); }

std::string for_svg(std::string const& plain) { return escaped(plain, {{'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}}); }

// The blocks of each message (from, to) of a step.
std::map<std::pair<rank_t, rank_t>, numbers> messages(schedule const& drawn, std::vector<assignment> const& step) {
  std::map<std::pair<rank_t, rank_t>, numbers> found;
  for (assignment const& a : step)
    for (source const& s : drawn.from(a))
      if (s.rank != a.rank) found[{s.rank, a.rank}].push_back(a.block);
  return found;
}

}  // namespace

std::string number_runs(std::vector<std::uint32_t> some) {
  make_set(some);
  std::string text;
  for (auto first = some.begin(); first != some.end();) {
    auto last = first;
    while (std::next(last) != some.end() && *std::next(last) == *last + 1) ++last;
    text += text::format("{}{}", text.empty() ? "" : ",", *first);
    if (last != first) text += text::format("-{}", *last);
    first = std::next(last);
  }
  return text;
}

std::string draw_text(schedule const& drawn) {
  std::string text = title(drawn) + "\n";
  contributions known(drawn.ranks);
  for (std::size_t step = 0; step < drawn.steps.size(); ++step) {
    text += text::format("step {}\n", step + 1);
    std::vector<numbers> peers(drawn.ranks);
    std::vector<std::map<numbers, numbers>> blocks_by_set(
        drawn.ranks);  // a set of contributors to the blocks that have it
    for (assignment const& a : drawn.steps[step]) {
      blocks_by_set[a.rank][known.add(drawn, a)].push_back(a.block);
      for (source const& s : drawn.from(a))
        if (s.rank != a.rank) peers[a.rank].push_back(s.rank);
    }
    for (rank_t r = 0; r < drawn.ranks; ++r) {
      if (blocks_by_set[r].empty()) continue;
      text += text::format("  rank {:<3} reads {:<8}", r, peers[r].empty() ? "nobody" : number_runs(peers[r]));
      for (auto const& [set, blocks] : blocks_by_set[r])
        text += text::format("  block {} = {{{}}}", number_runs(blocks), number_runs(set));
      text += "\n";
    }
  }
  return text;
}

std::string draw_dot(schedule const& drawn) {
  std::string text = text::format(
      "digraph plan {{\n  label=\"{}\";\n  node [shape=circle, width=0.4, fixedsize=true];\n", for_dot(title(drawn)));
  for (std::size_t level = 0; level <= drawn.steps.size(); ++level) {
    text += "  { rank=same;";
    for (rank_t r = 0; r < drawn.ranks; ++r) text += text::format(" s{}r{} [label=\"{}\"];", level, r, r);
    for (rank_t r = 1; r < drawn.ranks; ++r)  // keeps ranks in order
      text += text::format(" s{}r{} -> s{}r{} [style=invis];", level, r - 1, level, r);
    text += " }\n";
  }
  for (std::size_t step = 0; step < drawn.steps.size(); ++step) {
    for (rank_t r = 0; r < drawn.ranks; ++r)
      text += text::format("  s{}r{} -> s{}r{} [style=dotted, arrowhead=none];\n", step, r, step + 1, r);
    for (auto const& [ends, blocks] : messages(drawn, drawn.steps[step]))
      text += text::format("  s{}r{} -> s{}r{} [label=\"{}\"];\n", step, ends.first, step + 1, ends.second,
                           number_runs(blocks));
  }
  return text + "}\n";
}

std::string draw_svg(schedule const& drawn) {
  constexpr std::size_t margin = 40, across = 60, down = 80, letter = 8;  // the widest common letters of the title
  auto const x = [&](std::size_t rank) { return margin + rank * across; };
  auto const y = [&](std::size_t level) { return 2 * margin + level * down; };
  std::string text = text::format(
      R"(<svg xmlns="http://www.w3.org/2000/svg" width="{}" height="{}" font-family="sans-serif" font-size="12">)"
      "\n<text x=\"{}\" y=\"{}\">{}</text>\n",
      std::max(x(drawn.ranks), margin + title(drawn).size() * letter), y(drawn.steps.size() + 1), margin / 2,
      margin / 2, for_svg(title(drawn)));
  for (rank_t r = 0; r < drawn.ranks; ++r)
    text += text::format("<line x1=\"{0}\" y1=\"{1}\" x2=\"{0}\" y2=\"{2}\" stroke=\"#ddd\"/>\n", x(r), y(0),
                         y(drawn.steps.size()));
  for (std::size_t step = 0; step < drawn.steps.size(); ++step)
    for (auto const& [ends, blocks] : messages(drawn, drawn.steps[step]))
      text += text::format(
          "<line x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\" stroke=\"#36c\"><title>{} to {}: block {}</title></line>\n",
          x(ends.first), y(step), x(ends.second), y(step + 1), ends.first, ends.second, number_runs(blocks));
  for (std::size_t level = 0; level <= drawn.steps.size(); ++level)
    for (rank_t r = 0; r < drawn.ranks; ++r)
      text += text::format(
          "<circle cx=\"{0}\" cy=\"{1}\" r=\"11\" fill=\"#fff\" stroke=\"#333\"/>"
          "<text x=\"{0}\" y=\"{2}\" text-anchor=\"middle\">{3}</text>\n",
          x(r), y(level), y(level) + 4, r);
  return text + "</svg>\n";
}

}  // namespace coset::schedule
