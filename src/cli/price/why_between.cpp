// SPDX-License-Identifier: Apache-2.0
#include "cli/price/why_between.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "choice/hosts/exchange.hpp"
#include "cli/bytes.hpp"

namespace coset::cli {
namespace {

using choice::exchange;
using choice::exchange_price;
using nlohmann::ordered_json;

struct priced_exchange {
  exchange how;
  exchange_price price;
};

/// Each with the segments that make it cheapest, the cheapest first. Ways that differ in segments only are neighbours.
std::vector<priced_exchange> candidates_of(choice::question const& q) {
  std::vector<priced_exchange> all;
  for (exchange const& how : choice::exchanges_for(q)) {
    priced_exchange const found{how, choice::price_of(q, how)};
    if (how.segment_bytes == 0)
      all.push_back(found);
    else if (found.price.total() < all.back().price.total())
      all.back() = found;
  }
  std::ranges::stable_sort(all, {}, [](priced_exchange const& e) { return e.price.total(); });
  return all;
}

std::string exchange_plan(choice::question const& q, exchange const& how) {
  auto const answer = choice::as_answer(q, how);
  std::string text = answer.algorithm.text() + ", " + program::policy_name(answer.storage);
  if (answer.segment_bytes != 0) text += ", segments of " + bytes_for_people(answer.segment_bytes);
  return text;
}

std::string exchange_row(choice::question const& q, priced_exchange const& e, char const* mark) {
  std::string text = fmt::format("{:>1} ", mark);
  for (double const seconds :
       {e.price.total(), e.price.inside, e.price.rounds, e.price.messages, e.price.bytes, e.price.combine})
    text += fmt::format(" {:>11.3f}", seconds * 1e6);
  return text + fmt::format("  {}\n", exchange_plan(q, e.how));
}

ordered_json exchange_json(choice::question const& q, priced_exchange const& e) {
  auto const answer = choice::as_answer(q, e.how);
  return {{"algorithm", answer.algorithm.text()},
          {"storage", program::policy_name(answer.storage)},
          {"segment_bytes", answer.segment_bytes},
          {"seconds", e.price.total()},
          {"inside", e.price.inside},
          {"rounds", e.price.rounds},
          {"messages", e.price.messages},
          {"bytes", e.price.bytes},
          {"combining", e.price.combine}};
}

/// Where there is one way only.
std::string only_way(choice::question const& q, bool json) {
  choice::answer const chosen = choice::choose_between(q);
  if (json) {
    ordered_json const text{{"coset_why", 1},
                            {"collective", name_of(q.what)},
                            {"hosts", q.hosts.ranks},
                            {"bytes", q.bytes},
                            {"chosen", {{"algorithm", chosen.algorithm.text()}}},
                            {"candidates", ordered_json::array()}};
    return text.dump(1) + '\n';
  }
  return fmt::format(
      "{} of {} on {} ranks of {} hosts\n> {}\nchosen: what only moves goes straight from host to host\n",
      name_of(q.what), bytes_for_people(q.bytes), q.ranks, q.hosts.ranks.size(), chosen.algorithm.text());
}

}  // namespace

std::string why_between(choice::question const& q, bool json, bool all) {
  if (q.hosts.ranks.size() < 2) throw argument_error("--hosts names one host; take two or more");
  if (choice::goes_straight(q.what)) return only_way(q, json);
  auto const found = candidates_of(q);
  exchange const chosen = choice::cheapest_exchange(q);
  priced_exchange const winner{chosen, choice::price_of(q, chosen)};
  if (json) {
    ordered_json candidates = ordered_json::array();
    for (auto const& e : found) candidates.push_back(exchange_json(q, e));
    ordered_json const text{{"coset_why", 1},
                            {"collective", name_of(q.what)},
                            {"hosts", q.hosts.ranks},
                            {"bytes", q.bytes},
                            {"network",
                             {{"latency", q.hosts.network.latency},
                              {"per_message", q.hosts.network.per_peer},
                              {"per_byte", q.hosts.network.per_byte}}},
                            {"chosen", exchange_json(q, winner)},
                            {"candidates", candidates}};
    return text.dump(1) + '\n';
  }
  constexpr std::size_t shown = 12;
  std::string text = fmt::format(
      "{} of {} on {} ranks of {} hosts\n  a message: {:.1f} us, {:.1f} us more for each further one, {:.3f} ns a "
      "byte\n",
      name_of(q.what), bytes_for_people(q.bytes), q.ranks, q.hosts.ranks.size(), q.hosts.network.latency * 1e6,
      q.hosts.network.per_peer * 1e6, q.hosts.network.per_byte * 1e9);
  text += fmt::format("  {:>12} {:>11} {:>11} {:>11} {:>11} {:>11}  plan\n", "us", "inside", "rounds", "messages",
                      "bytes", "combining");
  for (std::size_t k = 0; k < found.size() && (all || k < shown); ++k) text += exchange_row(q, found[k], "");
  if (!all && found.size() > shown) text += fmt::format("  … and {} more; --all shows them\n", found.size() - shown);
  text += exchange_row(q, winner, ">");
  return text + (found.front().how == chosen ? "chosen: the cheapest\n"
                                             : "chosen: the cheapest with bits that do not depend on the network\n");
}

}  // namespace coset::cli
