// SPDX-License-Identifier: Apache-2.0
// Switch trees of the hosts that a test runs on, as files.
#pragma once

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "mpi/processes.hpp"

namespace coset::mpi_test {

/// A directory of this process's own to work in, until the end of the test.
class own_directory {
 public:
  own_directory() {
    std::string made = (std::filesystem::temp_directory_path() / "coset-XXXXXX").string();
    here_ = mkdtemp(made.data());
    std::filesystem::current_path(here_);
  }
  ~own_directory() {
    std::filesystem::current_path(before_);
    std::filesystem::remove_all(here_);
  }

 private:
  std::filesystem::path const before_ = std::filesystem::current_path();
  std::filesystem::path here_;
};

/// The name of each host, in the order of the lowest processes there.
inline std::vector<std::string> host_names() {
  using name = std::array<char, MPI_MAX_PROCESSOR_NAME>;
  name mine{};
  int length = 0;
  MPI_Get_processor_name(mine.data(), &length);
  std::vector<name> all(static_cast<std::size_t>(processes()));
  MPI_Allgather(mine.data(), sizeof mine, MPI_BYTE, all.data(), sizeof mine, MPI_BYTE, MPI_COMM_WORLD);
  std::vector<std::string> names;
  for (name const& one : all)
    if (std::find(names.begin(), names.end(), one.data()) == names.end()) names.emplace_back(one.data());
  return names;
}

/// In the file "tree": a switch with these machines, in this order.
inline void write_tree(std::vector<std::string> const& machines) {
  std::ofstream file("tree");
  file << R"({"tree": {"switch": [)";
  for (std::size_t m = 0; m < machines.size(); ++m) file << (m == 0 ? "" : ", ") << '"' << machines[m] << '"';
  file << "]";
  for (std::size_t m = 0; m < machines.size(); ++m) file << ", \"" << machines[m] << "\": [" << m << "]";
  file << "}}";
}

}  // namespace coset::mpi_test
