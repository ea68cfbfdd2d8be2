// SPDX-License-Identifier: Apache-2.0
#include "command/restart.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <vector>

#include "coset/error.hpp"

namespace coset::cli {

std::string own_arguments() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void start_instead(std::string const& program, char const* as) {
  auto line = own_arguments();
  std::vector<char*> arguments;
  for (std::size_t at = 0; at < line.size(); at += std::strlen(line.data() + at) + 1)
    arguments.push_back(line.data() + at);
  if (as != nullptr && !arguments.empty()) arguments.front() = const_cast<char*>(as);  // execv() leaves it as it is
  arguments.push_back(nullptr);
  execv(program.c_str(), arguments.data());
  throw error(fmt::format("cannot start {}: {}", program, std::strerror(errno)));
}

}  // namespace coset::cli
