// SPDX-License-Identifier: Apache-2.0
// Tree files: JSON in, a checked tree out.
#include <map>
#include <set>
#include <sstream>

#include "base/text/file.hpp"
#include "base/text/json.hpp"
#include "base/text/printable.hpp"
#include "planning/schedule/model/tree.hpp"

namespace coset::schedule {
namespace {

using json = nlohmann::json;

// Turns the file's lists of children into a tree, refusing whatever is none.
class builder {
 public:
  builder(json const& nodes, std::string origin) : nodes_(nodes), origin_(std::move(origin)) {}

  tree build() && {
    check_children();
    add_node(root(), 0, 0);
    if (visited_.size() != nodes_.size())
      for (auto const& [name, children] : nodes_.items())
        if (!visited_.contains(name)) fail("node \"" + name + "\" lies on a cycle: give every node one parent");
    for (rank_t r = 0; r < made_.ranks; ++r)
      if (!ranks_.contains(r))
        fail("rank " + std::to_string(r) + " is not connected: list each of 0.." + std::to_string(*ranks_.rbegin()) +
             " under one node");
    return std::move(made_);
  }

 private:
  [[noreturn]] void fail(std::string const& reason) const { throw schedule_error(origin_ + ": " + reason); }

  void check_children() {
    for (auto const& [name, children] : nodes_.items()) {
      if (!text::is_printable(name)) fail("node " + text::json_text(name) + " is no name of printable characters");
      if (!children.is_array() || children.empty()) fail("node \"" + name + "\" needs a list of children");
      for (json const& child : children) check_child(name, child);
    }
  }

  void check_child(std::string const& parent, json const& child) {
    if (child.is_number_unsigned() && child.get<std::uint64_t>() < UINT16_MAX) {
      if (!ranks_.insert(child.get<rank_t>()).second) fail("rank " + text::json_text(child) + " has two parents");
      made_.ranks = *ranks_.rbegin() + 1;
    } else if (child.is_string() && nodes_.contains(child.get<std::string>())) {
      if (!children_.insert(child.get<std::string>()).second)
        fail("node " + text::json_text(child) + " has two parents");
    } else {
      fail("child " + (child.is_structured() ? child.type_name() : text::json_text(child)) + " of \"" + parent +
           "\" is neither a node of this file nor a rank");
    }
  }

  std::string root() const {
    std::string found;
    for (auto const& [name, children] : nodes_.items()) {
      if (children_.contains(name)) continue;
      if (!found.empty()) fail("\"" + found + "\" and \"" + name + "\" are not connected: join them under one node");
      found = name;
    }
    if (found.empty()) fail("the nodes form a cycle: one of them must be nobody's child");
    return found;
  }

  void add_node(std::string const& name, std::size_t parent, std::size_t depth) {
    if (depth > deepest) fail("node \"" + name + "\" lies deeper than " + std::to_string(deepest) + " levels");
    visited_.insert(name);
    std::size_t const self = made_.nodes.size();
    made_.nodes.push_back({name, {}, {}, parent, depth});
    for (json const& child : nodes_[name]) {
      made_.nodes[self].children.push_back(made_.nodes.size());
      if (child.is_string())
        add_node(child.get<std::string>(), self, depth + 1);
      else
        made_.nodes.push_back({text::json_text(child), child.get<rank_t>(), {}, self, depth + 1});
    }
  }

  static constexpr std::size_t deepest = 1000;  // trees are walked by recursion

  json const& nodes_;
  std::string origin_;
  tree made_;
  std::set<std::string> children_, visited_;
  std::set<rank_t> ranks_;
};

}  // namespace

tree parse_tree(std::istream& text, std::string const& origin) {
  json file = text::read_json(text, false);
  if (!file.is_object() || !file.contains("tree") || !file["tree"].is_object() || file["tree"].empty())
    throw schedule_error(origin + R"(: not a tree file; it looks like {"tree": {"top": ["left", 2], "left": [0, 1]}})");
  return builder(file["tree"], origin).build();
}

tree read_tree(std::string const& path) {
  std::istringstream file(text::content_of<schedule_error>(path, "tree file " + path));
  return parse_tree(file, path);
}

}  // namespace coset::schedule
