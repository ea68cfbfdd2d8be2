// SPDX-License-Identifier: Apache-2.0
// Drawing schedules.
#include "command/shown/draw.hpp"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <iterator>
#include <map>
#include <span>
#include <tuple>
#include <utility>

#include "base/text/format.hpp"
#include "command/shown/number_runs.hpp"
#include "planning/schedule/core/association.hpp"

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
  explicit contributions(rank_t ranks) : values_(ranks) {}

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

  static numbers ranks_in(std::vector<rank_range> const& runs) {
    numbers found;
    for (auto const& [begin, end] : runs)
      for (rank_t r = begin; r < end; ++r) found.push_back(r);
    return found;
  }

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

/// What one rank reads from another in a step, to fold it or to copy it.
struct reading {
  rank_t from, to;
  bool folded;
  friend auto operator<=>(reading const&, reading const&) = default;

  char const* colour() const { return folded ? "#1f5fc4" : "#b3520a"; }
  char const* purpose() const { return folded ? "fold" : "copy"; }
};

/// The messages of a step with their blocks.
std::map<reading, numbers> messages(schedule const& drawn, std::vector<assignment> const& step) {
  std::map<reading, numbers> found;
  for (assignment const& a : step)
    for (source const& s : drawn.from(a))
      if (s.rank != a.rank) found[{s.rank, a.rank, a.count > 1}].push_back(a.block);
  return found;
}

/// Ranks from left to right, steps downwards, an arrow per message.
class picture {
 public:
  explicit picture(schedule const& drawn) : drawn_(drawn) {}

  std::string text() {
    auto const name = title(drawn_);
    auto const width = std::max(x(drawn_.ranks), margin + name.size() * letter);
    auto const height = y(drawn_.steps.size()) + 2 * margin;
    text::append(text_,
                 R"(<svg xmlns="http://www.w3.org/2000/svg" width="{0}" height="{1}" viewBox="0 0 {0} {1}" )"
                 R"(font-family="sans-serif" font-size="12">)"
                 "\n<rect width=\"{0}\" height=\"{1}\" fill=\"#fff\"/>\n<text x=\"{2}\" y=\"{2}\">{3}</text>\n",
                 width, height, margin / 2, for_svg(name));
    add_heads();
    add_lines();
    for (std::size_t step = 0; step < drawn_.steps.size(); ++step) add_step(step);
    add_ranks();
    add_legend(height - margin / 2);
    return std::move(text_) + "</svg>\n";
  }

 private:
  static constexpr std::size_t margin = 40, labels = 60, across = 60, down = 80, radius = 11;
  static constexpr std::size_t letter = 8;           // the widest common letters of the title
  static constexpr rank_t most_labelled_ranks = 16;  // more have too many arrows for each to be labelled

  std::size_t x(std::size_t rank) const { return margin + labels + rank * across; }
  std::size_t y(std::size_t level) const { return 2 * margin + level * down; }

  void add_heads() {
    text_ += "<defs>\n";
    for (reading const& m : {reading{0, 0, true}, reading{0, 0, false}})
      text::append(text_,
                   "<marker id=\"{}\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"8\" markerHeight=\"8\" "
                   "markerUnits=\"userSpaceOnUse\" orient=\"auto\"><path d=\"M0 0L8 4L0 8z\" fill=\"{}\"/></marker>\n",
                   m.purpose(), m.colour());
    text_ += "</defs>\n";
  }

  void add_lines() {
    for (rank_t r = 0; r < drawn_.ranks; ++r)
      text::append(text_, "<line x1=\"{0}\" y1=\"{1}\" x2=\"{0}\" y2=\"{2}\" stroke=\"#ddd\"/>\n", x(r), y(0),
                   y(drawn_.steps.size()));
    for (std::size_t step = 1; step <= drawn_.steps.size(); ++step)
      text::append(text_, "<text x=\"{}\" y=\"{}\" fill=\"#555\">step {}</text>\n", margin / 2, y(step) - down / 2 + 4,
                   step);
  }

  void add_step(std::size_t step) {
    for (auto const& [message, blocks] : messages(drawn_, drawn_.steps[step]))
      add_arrow(step, message, number_runs(blocks));
  }

  /// From the edge of one circle to that of the other.
  void add_arrow(std::size_t step, reading const& m, std::string const& blocks) {
    double const aside = m.folded ? 0 : 3;  // both kinds between the same ranks are seen
    double const x1 = static_cast<double>(x(m.from)) + aside, x2 = static_cast<double>(x(m.to)) + aside;
    double const y1 = static_cast<double>(y(step)), y2 = y1 + down;
    double const part = (radius + 1) / std::hypot(x2 - x1, y2 - y1);
    auto const along = [&](double from, double to, double t) { return from + (to - from) * t; };
    text::append(text_,
                 "<line class=\"{0}\" x1=\"{1:.1f}\" y1=\"{2:.1f}\" x2=\"{3:.1f}\" y2=\"{4:.1f}\" stroke=\"{5}\"{6} "
                 "marker-end=\"url(#{0})\"><title>step {7}: {8} to {9}, block {10} to {0}</title></line>\n",
                 m.purpose(), along(x1, x2, part), along(y1, y2, part), along(x1, x2, 1 - part),
                 along(y1, y2, 1 - part), m.colour(), dashes(m), step + 1, m.from, m.to, blocks);
    if (drawn_.ranks <= most_labelled_ranks)
      text::append(
          text_,
          "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\" font-size=\"10\" fill=\"{}\" stroke=\"#fff\" "
          "stroke-width=\"3\" paint-order=\"stroke\">{}</text>\n",
          along(x1, x2, 0.35), along(y1, y2, 0.35) + 3, m.colour(), blocks);
  }

  static char const* dashes(reading const& m) { return m.folded ? "" : " stroke-dasharray=\"5 2\""; }

  void add_ranks() {
    for (std::size_t level = 0; level <= drawn_.steps.size(); ++level)
      for (rank_t r = 0; r < drawn_.ranks; ++r)
        text::append(text_,
                     "<circle cx=\"{0}\" cy=\"{1}\" r=\"{2}\" fill=\"#fff\" stroke=\"#333\"/>"
                     "<text x=\"{0}\" y=\"{3}\" text-anchor=\"middle\">{4}</text>\n",
                     x(r), y(level), radius, y(level) + 4, r);
  }

  void add_legend(std::size_t y) {
    std::size_t x = margin / 2;
    for (reading const& m : {reading{0, 0, true}, reading{0, 0, false}}) {
      text::append(text_,
                   "<path d=\"M{} {}h28\" stroke=\"{}\"{} marker-end=\"url(#{})\"/><text x=\"{}\" y=\"{}\">{}</text>\n",
                   x, y - 4, m.colour(), dashes(m), m.purpose(), x + 34, y, m.folded ? "folded" : "copied");
      x += 90;
    }
  }

  schedule const& drawn_;
  std::string text_;
};

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
      "digraph plan {{\n  label=\"{}\\nblue: to fold, brown: to copy\";\n  ordering=out;\n"
      "  node [shape=circle, width=0.4, fixedsize=true];\n",
      for_dot(title(drawn)));
  for (std::size_t level = 0; level <= drawn.steps.size(); ++level) {
    auto const name = level == 0 ? std::string("inputs") : text::format("step {}", level);
    text::append(text, "  {{ rank=same; t{} [shape=plaintext, width=0.8, label=\"{}\"];", level, name);
    for (rank_t r = 0; r < drawn.ranks; ++r) text::append(text, " s{}r{} [label=\"{}\"];", level, r, r);
    text::append(text, " t{}", level);
    for (rank_t r = 0; r < drawn.ranks; ++r) text::append(text, " -> s{}r{}", level, r);  // keeps ranks in order
    text += " [style=invis]; }\n";
  }
  for (std::size_t step = 0; step < drawn.steps.size(); ++step) {
    text::append(text, "  t{} -> t{} [style=invis];\n", step, step + 1);
    for (rank_t r = 0; r < drawn.ranks; ++r)
      text::append(text, "  s{}r{} -> s{}r{} [style=dotted, arrowhead=none, weight=100];\n", step, r, step + 1, r);
    for (auto const& [message, blocks] : messages(drawn, drawn.steps[step]))
      text::append(text, "  s{}r{} -> s{}r{} [label=\"{}\", color=\"{}\"{}];\n", step, message.from, step + 1,
                   message.to, number_runs(blocks), message.colour(), message.folded ? "" : ", style=dashed");
  }
  return text + "}\n";
}

std::string draw_svg(schedule const& drawn) { return picture(drawn).text(); }

}  // namespace coset::schedule
