// SPDX-License-Identifier: Apache-2.0
#include "command/why/why_between.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "command/bound_json.hpp"
#include "command/bytes.hpp"
#include "command/shown/networks/network.hpp"
#include "command/why/why.hpp"
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
  std::optional<double> on_links = {};      ///< seconds, where links are known: bytes as these carry them
  std::optional<schedule::cut> bound = {};  ///< the cut of these links that binds
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
  pricing_on_links(choice::question const& q, schedule::network const& links)
      : q_(q),
        ways_(links),
        binding_(binding(schedule::cuts_of(links, {}, {.verb = choice::schedule_of(q.what), .ranks = links.ranks()}),
                         static_cast<double>(q.bytes))) {}

  void price(priced_exchange& e) {
    e.on_links = seconds_of(e);
    e.bound = binding_;
  }

 private:
  double seconds_of(priced_exchange const& e) {
    auto alike = e.how;
    alike.leaders = 1;
    alike.segment_bytes = 0;
    auto const made = between_hosts(q_, alike);
    auto const key = made.algorithm + schedule::algorithm{"", made.parameters}.text();
    auto const [found, is_new] = seconds_.try_emplace(key, 0);
    if (is_new) found->second = schedule::counts(made, ways_).seconds(static_cast<double>(q_.bytes));
    return e.price.total() - e.price.bytes + found->second;
  }

  choice::question const& q_;
  schedule::routes ways_;
  schedule::cut binding_;
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

std::string title(choice::question const& q) {
  return fmt::format("{} of {} on {} ranks of {} hosts", name_of(q.what), bytes_for_people(q.bytes), q.ranks,
                     q.hosts.ranks.size());
}

std::string exchange_plan(choice::question const& q, exchange const& how) {
  auto const answer = choice::as_answer(q, how);
  std::string text = answer.algorithm.text() + ", " + program::policy_name(answer.storage);
  if (answer.segment_bytes != 0) text += ", segments of " + bytes_for_people(answer.segment_bytes);
  return text;
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
  if (e.on_links) {
    made["on_links"] = *e.on_links;
    made.update(bound_json(*e.bound, static_cast<double>(q.bytes), *e.on_links));
  }
  return made;
}

/// By what they cost, the chosen one with its mark; it may be none of those that are cheapest with their segments.
table exchanges(choice::question const& q, std::vector<priced_exchange> all, priced_exchange const& chosen) {
  table made;
  made.with(as::words, {"=mark"});
  if (chosen.on_links) made.with(as::us, {"on links=on_links"}).with(as::ratio, {"over bound=over_bound"});
  made.with(as::us, {"total=seconds", "inside", "rounds", "messages", "bytes", "combining"}).with(as::words, {"plan"});
  auto const is_chosen = [&](priced_exchange const& e) { return e.how == chosen.how; };
  if (std::ranges::none_of(all, is_chosen)) all.push_back(chosen);
  for (priced_exchange const& e : all) {
    auto row = exchange_json(q, e);
    row.update({{"mark", is_chosen(e) ? ">" : ""}, {"plan", exchange_plan(q, e.how)}});
    made.add(std::move(row));
  }
  return made;
}

/// Where there is one way only.
std::string only_way(choice::question const& q, formats const& as_what) {
  choice::answer const chosen = choice::choose_between(q);
  if (as_what.json) {
    ordered_json const text{{"coset_why", 1},
                            {"collective", name_of(q.what)},
                            {"hosts", q.hosts.ranks},
                            {"bytes", q.bytes},
                            {"chosen", {{"algorithm", chosen.algorithm.text()}}},
                            {"candidates", ordered_json::array()}};
    return text.dump(1) + '\n';
  }
  auto only = table().with(as::words, {"=mark", "plan=algorithm"});
  only.add({{"mark", ">"}, {"algorithm", chosen.algorithm.text()}});
  if (as_what.is_table()) return as_what.of(only, title(q));
  return title(q) + '\n' + only.line(only.rows().front()) + "chosen: what only moves goes straight from host to host\n";
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

std::string why_between(choice::question const& q, formats const& as_what, bool all, schedule::network const* links) {
  if (q.hosts.ranks.size() < 2) throw argument_error("there is one host; take two or more");
  if (choice::goes_straight(q.what)) return only_way(q, as_what);
  auto found = candidates_of(q);
  exchange const chosen = choice::cheapest_exchange(q);
  priced_exchange winner{chosen, choice::price_of(q, chosen)};
  if (links != nullptr) {
    constexpr std::size_t most_hosts = 256;  // those of more take many seconds to make
    if (q.hosts.ranks.size() > most_hosts)
      throw argument_error(
          fmt::format("the links are between {} hosts, more than {}", q.hosts.ranks.size(), most_hosts));
    pricing_on_links on_links(q, *links);
    for (priced_exchange& e : found) on_links.price(e);
    on_links.price(winner);
    std::ranges::stable_sort(found, {}, [](priced_exchange const& e) { return *e.on_links; });
  }
  if (as_what.json) {
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
  auto const told = exchanges(q, found, winner);
  if (as_what.is_table()) return as_what.of(told, title(q));
  auto const text =
      title(q) +
      fmt::format("\n  a message: {:.1f} us, {:.1f} us more for each further one, {:.3f} ns a byte\n",
                  q.hosts.network.latency * 1e6, q.hosts.network.per_peer * 1e6, q.hosts.network.per_byte * 1e9) +
      candidates_text(told, all);
  if (winner.on_links)
    return text + fmt::format(
                      "chosen, as if hosts shared no links: {:.2f} times what the fastest takes on them\n"
                      "no plan whatever takes less than {:.3f} us on them; the cut that binds: {}\n",
                      *winner.on_links / *found.front().on_links,
                      winner.bound->seconds(static_cast<double>(q.bytes)) * 1e6, winner.bound->name);
  return text + (found.front().how == chosen ? "chosen: the cheapest\n"
                                             : "chosen: the cheapest with bits that do not depend on the network\n");
}

}  // namespace coset::cli
