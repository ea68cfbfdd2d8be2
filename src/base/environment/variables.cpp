// SPDX-License-Identifier: Apache-2.0
#include "base/environment/variables.hpp"

#include <unistd.h>

#include <cstdlib>

#include "coset/detail/reduction.hpp"

namespace coset::environment {
namespace {

std::string_view value_named(char const* name) noexcept {
  char const* const set = std::getenv(name);
  return set != nullptr ? set : std::string_view();
}

/// Names of others that begin like one of the table, as COSET_TEST_EFFORT, do no harm.
bool begins_like_a_listed_one(std::string_view entry) noexcept {
  static constexpr std::size_t letters = 4;
  static constexpr auto beginnings = [] {
    std::array<std::string_view, variables.size()> all;
    for (std::size_t v = 0; v < all.size(); ++v) all[v] = std::string_view(variables[v].name).substr(0, letters);
    std::sort(all.begin(), all.end());
    return all;
  }();
  return std::binary_search(beginnings.begin(), beginnings.end(), entry.substr(0, letters));
}

}  // namespace

all_set look_at_all() noexcept {
  all_set all;
  for (char** each = environ; each != nullptr && *each != nullptr; ++each) {
    std::string_view const entry = *each;
    if (!begins_like_a_listed_one(entry)) continue;
    all.names_files = all.names_files || entry.find("file=") != entry.npos;
    all.digest = detail::hash_of({entry.data(), entry.size() + 1}, all.digest);  // with its end
  }
  return all;
}

std::string_view value_to_write(name of) noexcept {
  char const* const set = secure_getenv(of.text());
  return set != nullptr ? set : std::string_view();
}

std::string_view value(name of) noexcept { return value_named(of.text()); }

std::string_view value_of(variable const& of) noexcept { return value_named(of.name); }

std::string variable_of(verb what) { return names_by_verb[static_cast<std::size_t>(what)].data(); }

std::string_view plans_of(verb what) { return value_named(names_by_verb[static_cast<std::size_t>(what)].data()); }

}  // namespace coset::environment
