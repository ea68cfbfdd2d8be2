// SPDX-License-Identifier: Apache-2.0
// Verdicts printed.
#include "lab/reproduce/result.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace coset::cli::reproduction {
namespace {

using nlohmann::ordered_json;

char const* name_of(means how) { return means_names[static_cast<std::size_t>(how)]; }
char const* name_of(verdict found) { return verdict_names[static_cast<std::size_t>(found)]; }

char const* overall_name(judged_claim const& one) {
  auto const found = one.overall();
  return found ? name_of(*found) : one.of->not_judged.empty() ? "no numbers" : "not judged";
}

char const* verdict_name(answer const& one) { return one.missing.empty() ? name_of(one.found) : "no numbers"; }

table page_of(judged_source const& all) {
  auto lines = table().with(as::words, {"claim", "by", "verdict", "found", "of what"});
  for (judged_claim const& one : all.claims) {
    std::string id = one.of->id;
    for (answer const& a : one.answers)
      lines.add({{"claim", std::exchange(id, "")},
                 {"by", name_of(a.to->by)},
                 {"verdict", verdict_name(a)},
                 {"found", a.text()},
                 {"of what", a.to->what}});
    if (one.answers.empty())
      lines.add({{"claim", id}, {"by", ""}, {"verdict", "not judged"}, {"found", ""}, {"of what", one.of->not_judged}});
  }
  return lines;
}

/// A line for each case.
table numbers_of(answer const& one) {
  auto lines = table("    ").with(as::words, {"of"}).with({.digits = 4}, {"value"});
  for (value const& v : one.values) lines.add({{"of", v.of}, {"value", v.number}});
  return lines;
}

ordered_json json_of(answer const& one) {
  ordered_json values = ordered_json::array();
  for (value const& v : one.values) values.push_back({{"of", v.of}, {"value", v.number}});
  return {{"asks", one.to->what},
          {"by", name_of(one.to->by)},
          {"agrees", one.to->agrees.text()},
          {"disagrees", one.to->disagrees.text()},
          {"values", std::move(values)},
          {"found", one.text()},
          {"verdict", verdict_name(one)}};
}

ordered_json json_of(judged_claim const& one) {
  ordered_json answers = ordered_json::array(), known = ordered_json::object();
  for (answer const& a : one.answers) answers.push_back(json_of(a));
  for (std::size_t how = 0; how < means_names.size(); ++how)
    if (auto const found = one.of->finds[how]) known[means_names[how]] = name_of(*found);
  return {{"id", one.of->id},
          {"where", one.of->where},
          {"says", one.of->says},
          {"answers", std::move(answers)},
          {"verdict", overall_name(one)},
          {"unknown", one.of->unknown},
          {"known", std::move(known)},
          {"because", one.of->because},
          {"not_judged", one.of->not_judged},
          {"surprise", one.surprise()}};
}

}  // namespace

void tally::add(judged_claim const& one) {
  auto const found = one.overall();
  if (!found)
    ++not_judged;
  else if (*found == verdict::undecided)
    ++undecided;
  else
    ++(*found == verdict::agrees ? agree : disagree);
}

tally& tally::operator+=(tally const& other) {
  agree += other.agree, disagree += other.disagree, undecided += other.undecided, not_judged += other.not_judged;
  return *this;
}

std::string tally::text() const {
  return fmt::format("{} claims: {} agree, {} disagree, {} undecided, {} not judged here",
                     agree + disagree + undecided + not_judged, agree, disagree, undecided, not_judged);
}

tally tally_of(judged_source const& of) {
  tally all;
  for (judged_claim const& one : of.claims) all.add(one);
  return all;
}

std::string as_text(std::span<judged_source const> all) {
  std::string text;
  tally sum;
  for (judged_source const& one : all) {
    auto const found = tally_of(one);
    sum += found;
    text += fmt::format("{}{}: {}\n{}{}\n", text.empty() ? "" : "\n", one.of->name, one.of->paper,
                        page_of(one).as_text(), found.text());
  }
  if (all.size() > 1) text += fmt::format("\nall sources, {}\n", sum.text());
  return text;
}

std::string in_full(judged_claim const& one) {
  auto text = fmt::format("{} ({}): \"{}\"\n", one.of->id, one.of->where, one.of->says);
  for (answer const& a : one.answers) {
    text += fmt::format("  {}, by {}: {}\n", a.to->what, name_of(a.to->by), a.text());
    text += fmt::format("    agrees: {}; disagrees: {}; found: {}\n", a.to->agrees.text(), a.to->disagrees.text(),
                        verdict_name(a));
    if (a.values.size() > 1) text += numbers_of(a).lines();
  }
  text +=
      fmt::format("  {}{}{}\n", overall_name(one), one.of->because.empty() && one.of->not_judged.empty() ? "" : ": ",
                  one.of->because + one.of->not_judged);
  return text;
}

table as_table(std::span<judged_source const> all) {
  auto made = table().with(as::numbers, {"source", "claim", "where", "says", "asks", "by", "agrees", "disagrees",
                                         "found", "verdict", "overall", "because"});
  for (judged_source const& from : all)
    for (judged_claim const& one : from.claims) {
      ordered_json const of{{"source", from.of->name},      {"claim", one.of->id},
                            {"where", one.of->where},       {"says", one.of->says},
                            {"overall", overall_name(one)}, {"because", one.of->because + one.of->not_judged}};
      for (answer const& a : one.answers) {
        auto row = json_of(a);
        row.update(of);
        made.add(std::move(row));
      }
      if (one.answers.empty()) made.add(of);
    }
  return made;
}

std::string as_json(std::span<judged_source const> all) {
  ordered_json sources = ordered_json::array();
  for (judged_source const& from : all) {
    ordered_json claims = ordered_json::array();
    for (judged_claim const& one : from.claims) claims.push_back(json_of(one));
    auto const found = tally_of(from);
    sources.push_back({{"source", from.of->name},
                       {"paper", from.of->paper},
                       {"agree", found.agree},
                       {"disagree", found.disagree},
                       {"undecided", found.undecided},
                       {"not_judged", found.not_judged},
                       {"claims", std::move(claims)}});
  }
  return ordered_json{{"coset_reproduction", 2}, {"sources", std::move(sources)}}.dump(1) + '\n';
}

}  // namespace coset::cli::reproduction
