// SPDX-License-Identifier: Apache-2.0
#include "environment/variables.hpp"

#include <cstdlib>

namespace coset::environment {
namespace {

std::string_view value_named(char const* name) noexcept {
  char const* const set = std::getenv(name);
  return set != nullptr ? set : std::string_view();
}

}  // namespace

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
