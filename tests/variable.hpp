// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>
#include <string>

namespace coset::test {

/// A variable of the environment, for as long as this lives.
class variable {
 public:
  variable(char const* name, std::string const& value) : name_(name) { setenv(name, value.c_str(), 1); }
  ~variable() { unsetenv(name_); }
  variable(variable const&) = delete;
  variable& operator=(variable const&) = delete;

 private:
  char const* name_;
};

}  // namespace coset::test
