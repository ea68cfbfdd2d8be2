// SPDX-License-Identifier: Apache-2.0
#include "planning/schedule/registry/named_file.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <sstream>
#include <utility>

#include "base/text/file.hpp"
#include "coset/detail/reduction.hpp"
#include "planning/schedule/core/validate.hpp"
#include "planning/schedule/files/plan_file.hpp"
#include "planning/schedule/registry/least_steps.hpp"
#include "planning/schedule/registry/permutation.hpp"

namespace coset::schedule {
namespace {

constexpr char const* own_name = "plan";
constexpr char const* any_content = "any";

/// Proved plans by content. Calls of many lengths ask for the same one, and a file may change between two of them.
class shelf {
 public:
  using pointer = std::shared_ptr<schedule const>;

  pointer find(std::string const& content) {
    std::lock_guard const lock(busy_);
    auto const found = plans_.find(content);
    return found == plans_.end() ? nullptr : found->second;
  }

  pointer put(std::string const& content, schedule plan) {
    auto made = std::make_shared<schedule const>(std::move(plan));
    std::lock_guard const lock(busy_);
    return plans_.emplace(content, std::move(made)).first->second;
  }

  /// Never destroyed: a rank may use it while another rank's exit() destroys static objects.
  static shelf& here() {
    static shelf& all = *new shelf;
    return all;
  }

 private:
  std::mutex busy_;
  std::map<std::string, pointer> plans_;
};

struct content_of_file {
  std::string content;
  shelf::pointer plan;
};

schedule proved(std::string const& text, std::string const& path) {
  std::istringstream in(text);
  schedule plan = read_plan(in, path).plan;
  try {
    (void)validate(plan);
  } catch (schedule_error const& violation) {
    throw schedule_error(text::format("{} is a wrong plan: {}", path, violation.what()));
  }
  return plan;
}

content_of_file read(std::string const& path) {
  auto const all = text::content_of<schedule_error>(path, path);
  std::string const content = text::format("{:016x}", detail::hash_of(all));
  if (auto known = shelf::here().find(content)) return {content, std::move(known)};
  return {content, shelf::here().put(content, proved(all, path))};
}

shelf::pointer plan_of(algorithm const& given) {
  std::string const& path = given.value("file");
  std::string const& content = given.value("content");
  if (auto known = shelf::here().find(content)) return known;
  auto found = read(path);
  if (content != any_content && content != found.content)
    throw schedule_error(text::format("{} has other content, {}, than {}", path, found.content, content));
  return std::move(found.plan);
}

schedule make_of_file(algorithm const& given, rank_t ranks, verb what, rank_t root) {
  auto const plan = plan_of(given);
  std::string const& path = given.value("file");
  if (plan->verb != what)
    throw schedule_error(text::format("{} is a plan of {}, not {}", path, name_of(plan->verb), name_of(what)));
  if (plan->ranks != ranks)
    throw schedule_error(text::format("{} is a plan for {} ranks, not {}", path, plan->ranks, ranks));
  if (plan->root.value_or(root) != root) {
    auto const order = permutation_of(given, ranks);
    if (order.empty()) throw schedule_error(text::format("{} is a plan for root {}, not {}", path, *plan->root, root));
    throw schedule_error(text::format("{} is a plan for root {}, which rank {} plays, not {}", path, *plan->root,
                                      order[*plan->root], order[root]));
  }
  return *plan;
}

}  // namespace

std::vector<named_algorithm> file_algorithms() {
  std::vector<verb> all;
  std::ranges::copy_if(all_verbs(), std::back_inserter(all), has_schedules);
  return {{own_name,
           "any schedule, from a file with Plan JSON; proved before it is used",
           "yours",
           std::move(all),
           {{"file", "", "the file, for one verb, number of ranks and root"},
            {"content", any_content, "the hash that the file must have, 16 digits"}},
           make_of_file,
           one_step,
           nullptr,
           {},
           nullptr,
           false}};
}

algorithm pinned(algorithm given) {
  if (given.name != own_name || given.parameters.contains("content")) return given;
  given.parameters["content"] = read(given.value("file")).content;
  return given;
}

std::string identity(algorithm const& given) {
  algorithm same = given;
  if (same.name == own_name && same.parameters.contains("content")) same.parameters.erase("file");
  return same.text();
}

}  // namespace coset::schedule
