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

void start_instead(std::string const& program) {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::string line(std::istreambuf_iterator<char>(file), {});
  std::vector<char*> arguments;
  for (std::size_t at = 0; at < line.size(); at += std::strlen(line.data() + at) + 1)
    arguments.push_back(line.data() + at);
  arguments.push_back(nullptr);
  execv(program.c_str(), arguments.data());
  throw error(fmt::format("cannot start {}: {}", program, std::strerror(errno)));
}

}  // namespace coset::cli
