// SPDX-License-Identifier: Apache-2.0
#include "environment/variables.hpp"

#include <unistd.h>

#include <cstdlib>
#include <cstring>

namespace coset::environment {
namespace {

std::string_view value_named(char const* name) noexcept {
  char const* const set = std::getenv(name);
  return set != nullptr ? set : std::string_view();
}

/// Names of others that begin like one of the table, as COSET_TEST_EFFORT, do no harm.
bool begins_like_a_listed_one(char const* entry) noexcept {
  static constexpr std::size_t letters = 4;
  static constexpr auto beginnings = [] {
    std::array<std::string_view, variables.size()> all;
    for (std::size_t v = 0; v < all.size(); ++v) all[v] = std::string_view(variables[v].name).substr(0, letters);
    std::sort(all.begin(), all.end());
    return all;
  }();
  static constexpr auto distinct = [] {
    std::array<std::string_view, static_cast<std::size_t>(std::count_if(beginnings.begin(), beginnings.end(),
                                                                        [](auto const& each) {
                                                                          return &each == beginnings.data() ||
                                                                                 each != *(&each - 1);
                                                                        }))>
        all;
    std::unique_copy(beginnings.begin(), beginnings.end(), all.begin());
    return all;
  }();
  return std::any_of(distinct.begin(), distinct.end(),
                     [&](std::string_view each) { return std::strncmp(entry, each.data(), letters) == 0; });
}

}  // namespace

std::uint64_t mixed(std::uint64_t digest, std::uint64_t with) noexcept {
  digest = (digest ^ with) * 0x9e3779b97f4a7c15;
  return digest ^ digest >> 29;
}

all_set look_at_all() noexcept {
  all_set all;
  for (char** each = environ; each != nullptr && *each != nullptr; ++each) {
    if (!begins_like_a_listed_one(*each)) continue;
    std::string_view const entry = *each;
    all.names_files = all.names_files || entry.find("file=") != entry.npos;
    all.digest = mixed(all.digest, entry.size());  // where one entry ends another begins
    for (std::size_t at = 0; at < entry.size(); at += sizeof(std::uint64_t)) {
      std::uint64_t next = 0;
      std::memcpy(&next, entry.data() + at, std::min(entry.size() - at, sizeof next));
      all.digest = mixed(all.digest, next);
    }
  }
  return all;
}

std::string_view value_to_write(name of) noexcept {
  char const* const set = secure_getenv(of.text());
  return set != nullptr ? set : std::string_view();
}

std::string_view value(name of) noexcept { return value_named(of.text()); }

std::string_view value_of(variable const& of) noexcept { return value_named(of.name); }

std::string variable_of(verb what) {
  std::string text = "COSET_";
  for (char const c : name_of(what)) text += static_cast<char>(c == '_' ? c : c - 'a' + 'A');
  return text;
}

std::string_view plans_of(verb what) { return value_named(variable_of(what).c_str()); }

}  // namespace coset::environment
