// SPDX-License-Identifier: Apache-2.0
#include "command/why/why_between.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "command/bytes.hpp"
#include "command/shown/networks/network.hpp"
#include "planning/choice/hosts/exchange.hpp"
#include "planning/schedule/registry/algorithm.hpp"

namespace coset::cli {
namespace {

using choice::exchange;
using choice::exchange_price;
using nlohmann::ordered_json;

struct priced_exchange {
  exchange how;
  exchange_price price;
  std::optional<double> on_links = {};  ///< seconds, where links are known: bytes as these carry them
};

/// What hosts exchange, without what happens inside of them: a host is one rank.
schedule::schedule between_hosts(choice::question const& q, exchange const& how) {
  auto const whole = schedule::completed(choice::as_answer(q, how).algorithm);
  return schedule::make(schedule::between_of(whole), static_cast<rank_t>(q.hosts.ranks.size()),
                        choice::schedule_of(q.what));
}

/// Prices exchanges on the links between hosts. What differs in leaders and segments only is one schedule there.
class pricing_on_links {
 public:
  pricing_on_links(choice::question const& q, schedule::network const& links) : q_(q), ways_(links) {}

  double operator()(priced_exchange const& e) {
    auto alike = e.how;
    alike.leaders = 1;
    alike.segment_bytes = 0;
    auto const made = between_hosts(q_, alike);
    auto const key = made.algorithm + schedule::algorithm{"", made.parameters}.text();
    auto const [found, is_new] = seconds_.try_emplace(key, 0);
    if (is_new) found->second = schedule::counts(made, ways_).seconds(static_cast<double>(q_.bytes));
    return e.price.total() - e.price.bytes + found->second;
  }

 private:
  choice::question const& q_;
  schedule::routes ways_;
  std::map<std::string, double> seconds_;
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
  if (e.on_links) text += fmt::format(" {:>11.3f}", *e.on_links * 1e6);
  for (double const seconds :
       {e.price.total(), e.price.inside, e.price.rounds, e.price.messages, e.price.bytes, e.price.combine})
    text += fmt::format(" {:>11.3f}", seconds * 1e6);
  return text + fmt::format("  {}\n", exchange_plan(q, e.how));
}

ordered_json exchange_json(choice::question const& q, priced_exchange const& e) {
  auto const answer = choice::as_answer(q, e.how);
  ordered_json made{{"algorithm", answer.algorithm.text()},
                    {"storage", program::policy_name(answer.storage)},
                    {"segment_bytes", answer.segment_bytes},
                    {"seconds", e.price.total()},
                    {"inside", e.price.inside},
                    {"rounds", e.price.rounds},
                    {"messages", e.price.messages},
                    {"bytes", e.price.bytes},
                    {"combining", e.price.combine}};
  if (e.on_links) made["on_links"] = *e.on_links;
  return made;
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

choice::host_facts hosts_of(schedule::network_file const& of, std::string const& name) {
  choice::host_facts found;
  found.ranks = of.links.ranks_by_place(of.links.ranks());
  if (found.ranks.empty())
    throw argument_error(name + " has no hosts of consecutive ranks: number the ranks of a place one after another");
  if (!of.switches) return found;
  auto const along = schedule::ring_order(*of.switches);
  if (std::ranges::is_sorted(along))  // else hosts are numbered in another way than along the tree
    found.switches = schedule::groups_along(*of.switches, schedule::machines_along(*of.switches));
  return found;
}

std::string why_between(choice::question const& q, bool json, bool all, schedule::network const* links) {
  if (q.hosts.ranks.size() < 2) throw argument_error("there is one host; take two or more");
  if (choice::goes_straight(q.what)) return only_way(q, json);
  auto found = candidates_of(q);
  exchange const chosen = choice::cheapest_exchange(q);
  priced_exchange winner{chosen, choice::price_of(q, chosen)};
  if (links != nullptr) {
    constexpr std::size_t most_hosts = 256;  // those of more take many seconds to make
    if (q.hosts.ranks.size() > most_hosts)
      throw argument_error(
          fmt::format("the links are between {} hosts, more than {}", q.hosts.ranks.size(), most_hosts));
    pricing_on_links on_links(q, *links);
    for (priced_exchange& e : found) e.on_links = on_links(e);
    winner.on_links = on_links(winner);
    std::ranges::stable_sort(found, {}, [](priced_exchange const& e) { return *e.on_links; });
  }
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
                            {"switches", q.hosts.switches},
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
  if (winner.on_links) text += fmt::format("  {:>12}", "us on links");
  text += fmt::format("  {:>12} {:>11} {:>11} {:>11} {:>11} {:>11}  plan\n", "us", "inside", "rounds", "messages",
                      "bytes", "combining");
  for (std::size_t k = 0; k < found.size() && (all || k < shown); ++k) text += exchange_row(q, found[k], "");
  if (!all && found.size() > shown) text += fmt::format("  … and {} more; --all shows them\n", found.size() - shown);
  text += exchange_row(q, winner, ">");
  if (winner.on_links)
    return text + fmt::format("chosen, as if hosts shared no links: {:.2f} times what the fastest takes on them\n",
                              *winner.on_links / *found.front().on_links);
  return text + (found.front().how == chosen ? "chosen: the cheapest\n"
                                             : "chosen: the cheapest with bits that do not depend on the network\n");
}

}  // namespace coset::cli
