// SPDX-License-Identifier: Apache-2.0
// Network files: JSON in, a checked network out.
#include <algorithm>
#include <initializer_list>
#include <limits>
#include <map>
#include <sstream>
#include <string_view>

#include "base/text/file.hpp"
#include "base/text/json.hpp"
#include "base/text/printable.hpp"
#include "command/shown/networks/network.hpp"

namespace coset::schedule {
namespace {

using json = nlohmann::json;

constexpr std::uint64_t most_ranks = UINT16_MAX;  // as of trees
constexpr std::uint64_t most_links = 1 << 20;
constexpr double most_latency = 1e9;

class reader {
 public:
  reader(json const& file, std::string const& text, std::string const& origin, link_costs usual)
      : file_(file), text_(text), origin_(origin), usual_(usual) {}

  network_file read() const {
    for (char const* const kind : {"torus", "mesh"})
      if (file_.contains(kind)) return {grid(kind), {}};
    if (file_.contains("dragonfly")) return {groups(), {}};
    if (file_.contains("graph")) return {graph(), {}};
    return with_tree();
  }

 private:
  [[noreturn]] void fail(std::string const& reason) const { throw schedule_error(origin_ + ": " + reason); }

  static std::string shown(json const& value) {
    return value.is_structured() ? value.type_name() : text::json_text(value);
  }

  void allow(json const& object, std::initializer_list<std::string_view> keys) const {
    for (auto const& [key, value] : object.items())
      if (std::ranges::find(keys, key) == keys.end()) fail("unknown key " + text::json_text(key));
  }

  /// A link as the file has it; what it leaves out is that of `otherwise`.
  link_costs costs(json const& link, link_costs otherwise) const {
    if (!link.is_object()) fail("a link is " + shown(link) + R"(, not like {"bandwidth": 1e9, "latency": 1e-6})");
    allow(link, {"bandwidth", "latency"});
    auto const number = [&](char const* key, double least, double most) {
      double const value = link[key].is_number() ? link[key].get<double>() : -1;
      if (!(value >= least && value <= most)) fail(std::string(key) + " is " + shown(link[key]));
      return value;
    };
    if (link.contains("bandwidth")) otherwise.per_byte = 1 / number("bandwidth", 1, std::numeric_limits<double>::max());
    if (link.contains("latency")) otherwise.latency = number("latency", 0, most_latency);
    return otherwise;
  }

  /// A rank's own link; by default as fast as others, and without a latency, which the ways between hosts have.
  link_costs rank_costs(link_costs link) const { return costs_named("rank", {0, link.per_byte}); }

  link_costs costs_named(char const* key, link_costs otherwise) const {
    return file_.contains(key) ? costs(file_[key], otherwise) : otherwise;
  }

  rank_t count(json const& value, std::string const& what) const {
    if (!value.is_number_unsigned() || value == 0 || value.get<std::uint64_t>() > most_ranks)
      fail(what + " is " + shown(value) + ", not a number of at least 1");
    return value.get<rank_t>();
  }

  /// Throws if this many hosts have too many ranks.
  regular_links regular(std::uint64_t hosts) const {
    link_costs const link = costs_named("link", usual_);
    regular_links all{rank_costs(link), link, costs_named("global", link), 1};
    if (file_.contains("ranks_per_host")) all.ranks_per_host = count(file_["ranks_per_host"], "ranks_per_host");
    if (hosts * all.ranks_per_host > most_ranks) fail("more than " + std::to_string(most_ranks) + " ranks");
    return all;
  }

  network grid(char const* kind) const {
    allow(file_, {kind, "ranks_per_host", "rank", "link"});
    json const& given = file_[kind];
    if (!given.is_array() || given.empty()) fail(std::string(kind) + " is " + shown(given) + ", not like [4, 4]");
    std::vector<rank_t> dimensions;
    std::uint64_t hosts = 1;
    if (given.size() > 8) fail("more than 8 dimensions");
    for (json const& size : given) {
      dimensions.push_back(count(size, "a dimension"));
      hosts = std::min(hosts * dimensions.back(), most_ranks + 1);
    }
    return grid_network(dimensions, std::string_view(kind) == "torus", regular(hosts));
  }

  network groups() const {
    allow(file_, {"dragonfly", "ranks_per_host", "rank", "link", "global"});
    json const& given = file_["dragonfly"];
    if (!given.is_object())
      fail("dragonfly is " + shown(given) + R"(, not like {"groups": 9, "routers": 4, "hosts": 2})");
    allow(given, {"groups", "routers", "hosts"});
    auto const number = [&](char const* key) {
      if (!given.contains(key)) fail(std::string("dragonfly lacks ") + key);
      return count(given[key], key);
    };
    dragonfly const of{number("groups"), number("routers"), number("hosts")};
    if (std::uint64_t{of.groups} * of.groups > most_links ||
        std::uint64_t{of.routers} * of.routers > most_links / of.groups)
      fail("more than " + std::to_string(most_links) + " links");
    return dragonfly_network(of, regular(std::min(std::uint64_t{of.groups} * of.routers, most_ranks + 1) * of.hosts));
  }

  network graph() const {
    allow(file_, {"graph", "ranks", "rank", "link"});
    json const& edges = file_["graph"];
    if (!edges.is_array() || !file_.contains("ranks") || !file_["ranks"].is_array() || file_["ranks"].empty() ||
        file_["ranks"].size() > most_ranks)
      fail(R"(not like {"graph": [["a", "b"]], "ranks": ["a", "a", "b"]})");
    network made;
    std::map<std::string, place_t> places;
    auto const place = [&](json const& name) {
      if (!name.is_string() || !text::is_printable(name.get_ref<std::string const&>()))
        fail("a place is " + shown(name) + ", not a name of printable characters");
      auto const [found, is_new] = places.try_emplace(name.get<std::string>());
      if (is_new) found->second = made.add_place(found->first);
      return found->second;
    };
    link_costs const usual = costs_named("link", usual_), of_rank = rank_costs(usual);
    for (json const& edge : edges) {
      bool const is_edge = edge.is_array() && (edge.size() == 2 || edge.size() == 3);
      if (!is_edge) fail("a link is " + shown(edge) + R"(, not like ["a", "b"])");
      place_t const a = place(edge[0]), b = place(edge[1]);
      made.join(a, b, edge.size() == 3 ? costs(edge[2], usual) : usual);
    }
    for (json const& at : file_["ranks"]) made.add_rank(place(at), of_rank);
    return made;
  }

  network_file with_tree() const {
    std::istringstream text(text_);
    tree const of = parse_tree(text, origin_);
    allow(file_, {"tree", "rank", "link", "links"});
    link_costs const usual = costs_named("link", usual_), of_rank = rank_costs(usual);
    json const given = file_.value("links", json::object());
    if (!given.is_object()) fail("links are " + shown(given) + R"(, not like {"left": {"bandwidth": 1e9}})");
    std::size_t used = 0;
    std::vector<link_costs> all;
    for (tree_node const& node : of.nodes) {
      link_costs const one = node.rank ? of_rank : usual;
      bool const named = given.contains(node.name) && !all.empty();
      used += named;
      all.push_back(named ? costs(given[node.name], one) : one);
    }
    if (used != given.size()) fail("links name what is no node or rank of the tree, or its root, which has no parent");
    return {network_of(of, all), of};
  }

  json const& file_;
  std::string const& text_;
  std::string const& origin_;
  link_costs usual_;
};

}  // namespace

network_file parse_network(std::istream& in, std::string const& origin, link_costs usual) {
  std::string const text(std::istreambuf_iterator<char>(in), {});
  std::istringstream again(text);
  json const file = text::read_json(again, false);
  if (!file.is_object())
    throw schedule_error(origin + ": not a network file; it looks like a tree file, or {\"torus\": [4, 4]}");
  return reader(file, text, origin, usual).read();
}

network_file read_network(std::string const& path, link_costs usual) {
  std::istringstream file(text::content_of<schedule_error>(path, "network file " + path));
  return parse_network(file, path, usual);
}

}  // namespace coset::schedule
