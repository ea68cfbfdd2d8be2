// SPDX-License-Identifier: Apache-2.0
#include "command/why/why_told.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "command/bytes.hpp"
#include "command/why/why.hpp"
#include "planning/choice/rules/table.hpp"

namespace coset::cli {
namespace {

using choice::explained;
using nlohmann::ordered_json;

std::string name_of_plan(choice::answer const& a) {
  return a.algorithm.text() + ", " + program::policy_name(a.storage);
}

std::string name_of_group(choice::question const& q, schedule::link const& l) {
  if (l.group == UINT32_MAX) return "all ranks";
  auto const groups = choice::groups_of(q);
  return std::ranges::find(groups, l.group) != groups.end() ? fmt::format("groups of {}", l.group) : "ranks of a node";
}

/// By --plan, with these parameters among others; without it all are.
bool is_named(schedule::algorithm const& what, std::vector<std::string> const& plans) {
  return plans.empty() || std::ranges::any_of(plans, [&](std::string const& text) {
           auto const wanted = schedule::algorithm::parse(text);
           (void)schedule::find_algorithm(wanted.name);
           return wanted.name == what.name && std::ranges::includes(what.parameters, wanted.parameters);
         });
}

/// Of candidates that are cheaper than the chosen one, each rule that removes one of them.
std::vector<std::string> rules_of(choice::explanation const& found) {
  std::vector<std::string> rules;
  for (explained const& e : found.candidates) {
    bool const is_cheaper = e.seconds() < found.chosen.seconds();
    if (is_cheaper && !e.removed_by.empty() && std::ranges::find(rules, e.removed_by) == rules.end())
      rules.push_back(e.removed_by);
  }
  return rules;
}

std::string letter(std::size_t number) { return {static_cast<char>('a' + number)}; }

/// A row that a rule removes has the rule's letter.
std::string mark_of(explained const& e, std::vector<std::string> const& rules) {
  auto const rule = std::ranges::find(rules, e.removed_by);
  return rule == rules.end() ? "" : letter(static_cast<std::size_t>(rule - rules.begin()));
}

std::string reason(choice::explanation const& found) {
  auto const rules = rules_of(found);
  return rules.empty() ? "the cheapest" : fmt::format("the cheapest but for rules: {}", fmt::join(rules, "; "));
}

ordered_json json_of(explained const& e) {
  return {{"algorithm", e.what.algorithm.text()},
          {"storage", program::policy_name(e.what.storage)},
          {"seconds", e.seconds()},
          {"rounds", e.steps.latency},
          {"peers", e.steps.peers},
          {"bytes", e.steps.transfer},
          {"combining", e.steps.combine},
          {"copies", e.storage.copies},
          {"owners", e.storage.owners},
          {"reaching", e.storage.reaching},
          {"memory", e.storage.memory},
          {"meeting", e.storage.meeting},
          {"removed_by", e.removed_by.empty() ? ordered_json() : ordered_json(e.removed_by)}};
}

std::string machine_text(choice::question const& q) {
  std::size_t const longest = choice::class_end(q.bytes);
  std::string text = why_title(q);
  if (longest != q.bytes) text += fmt::format(" (served and priced as {})", bytes_for_people(longest));
  text += fmt::format(" on {} ranks", q.ranks);
  auto const groups = choice::groups_of(q), uneven = choice::uneven_nodes_of(q);
  if (!groups.empty()) text += fmt::format(", groups of {}", schedule::value_of(groups, ' '));
  if (!uneven.empty()) text += fmt::format(", nodes of {}", schedule::value_of(uneven, ' '));
  if (!q.order.empty()) text += ", scattered over them";
  if (q.crowded) text += ", in turns on processors";
  text += '\n';
  auto const machine = choice::machine_of(q);
  bool const is_fitted = q.memory.costs != calibration::memory_costs{};
  for (schedule::link const& l : machine.costs().links) {
    auto const here = choice::priced_here(
        {.latency = l.latency, .peers = l.per_peer, .transfer = l.per_byte, .combine = 0}, q.memory.costs);
    text += fmt::format("  {}: {:.0f} ns a round, {:.0f} a peer, {:.3f} a byte{}\n", name_of_group(q, l),
                        here.latency * 1e9, here.peers * 1e9, here.transfer * 1e9, is_fitted ? ", as fitted" : "");
  }
  return text;
}

}  // namespace

std::string why_title(choice::question const& q) {
  return fmt::format("{} of {}", name_of(q.what), bytes_for_people(q.bytes));
}

/// Candidates by what they cost, the chosen one with its mark.
table told_candidates(choice::explanation const& found, std::vector<std::string> const& plans) {
  auto made = table()
                  .with(as::words, {"=mark"})
                  .with(as::us, {"total=seconds", "rounds", "peers", "bytes", "combining", "copies", "owners",
                                 "reaching", "memory", "meeting"})
                  .with(as::words, {"plan"});
  auto const rules = rules_of(found);
  bool is_there = false;
  auto const add = [&](explained const& e, std::string const& mark) {
    auto row = json_of(e);
    row.update({{"mark", mark}, {"plan", name_of_plan(e.what)}});
    made.add(std::move(row));
  };
  for (explained const& e : found.candidates) {
    // Its storage may have been refined by a rule, as to output_push, which costs the same.
    bool const is_chosen =
        !is_there && e.what.algorithm == found.chosen.what.algorithm && e.seconds() == found.chosen.seconds();
    is_there |= is_chosen;
    if (is_chosen)
      add(found.chosen, ">");
    else if (is_named(e.what.algorithm, plans))
      add(e, mark_of(e, rules));
  }
  if (!is_there) add(found.chosen, ">");
  return made;
}

std::string why_text(choice::question const& q, choice::explanation const& found, calibration::rule const* rule,
                     std::vector<std::string> const& plans, bool all) {
  std::string text = machine_text(q) + candidates_text(told_candidates(found, plans), all);
  auto const rules = rules_of(found);
  if (found.not_counted > 0)
    text += fmt::format("  … and {} that would be written out for so many ranks: not counted\n", found.not_counted);
  text += fmt::format("chosen: the cheapest{}\n", rules.empty() ? "" : " that no rule removes");
  for (std::size_t k = 0; k < rules.size(); ++k) text += fmt::format("  {}: {}\n", letter(k), rules[k]);
  text += fmt::format("it took {:.0f} us to choose\n", found.choice_seconds * 1e6);
  if (rule != nullptr)
    text += fmt::format("a rule precedes this: {}, {} ({})\n", rule->how.algorithm, rule->how.storage, rule->named_by);
  return text;
}

ordered_json why_json(choice::question const& q, choice::explanation const& found, calibration::rule const* rule) {
  ordered_json links = ordered_json::array(), candidates = ordered_json::array();
  auto const machine = choice::machine_of(q);
  for (schedule::link const& l : machine.costs().links)
    links.push_back({{"name", name_of_group(q, l)},
                     {"latency", l.latency},
                     {"per_peer", l.per_peer},
                     {"per_byte", l.per_byte},
                     {"shared", l.shared}});
  for (explained const& e : found.candidates) candidates.push_back(json_of(e));
  ordered_json json{{"coset_why", 1},          {"collective", name_of(q.what)},
                    {"ranks", q.ranks},        {"bytes", q.bytes},
                    {"in_place", q.in_place},  {"crowded", q.crowded},
                    {"links", links},          {"chosen", json_of(found.chosen)},
                    {"reason", reason(found)}, {"choice_seconds", found.choice_seconds},
                    {"candidates", candidates}};
  if (found.not_counted > 0) json["not_counted"] = found.not_counted;
  json["rule"] = nullptr;
  if (rule != nullptr)
    json["rule"] = {{"algorithm", rule->how.algorithm}, {"storage", rule->how.storage}, {"named_by", rule->named_by}};
  return json;
}

std::string candidates_text(table const& found, bool all) {
  constexpr std::size_t most_rows = 12;
  std::string text = found.heads();
  std::size_t left_out = 0;
  for (std::size_t k = 0; k < found.rows().size(); ++k)
    if (auto const& row = found.rows()[k]; all || k < most_rows || row["mark"] == ">")
      text += found.line(row);
    else
      ++left_out;
  return left_out == 0 ? text : text + fmt::format("   … and {} more; --all shows them\n", left_out);
}

}  // namespace coset::cli
