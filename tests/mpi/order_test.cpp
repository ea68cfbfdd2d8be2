// SPDX-License-Identifier: Apache-2.0
// Which rank is who, and that operations that do not commute are applied in that order.
#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>

#include "mpi/processes.hpp"
#include "support/verbs.hpp"

namespace coset::mpi_test {
namespace {

using namespace team_test;

TEST(Ranks, AreNumberedHostByHostProcessByProcessThreadByThread) {
  hybrid on(3);
  int node_process = 0, node_processes = 0, node = process();
  MPI_Comm host;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
  MPI_Comm_rank(host, &node_process);
  MPI_Comm_size(host, &node_processes);
  MPI_Bcast(&node, 1, MPI_INT, 0, host);
  MPI_Comm_free(&host);

  std::array<int, 3> const mine{static_cast<int>(on.all.first()), static_cast<int>(on.all.threads()), node};
  std::vector<std::array<int, 3>> all(static_cast<std::size_t>(processes()));
  MPI_Allgather(mine.data(), 3, MPI_INT, all.data(), 3, MPI_INT, MPI_COMM_WORLD);
  std::sort(all.begin(), all.end());
  int next = 0;
  std::vector<int> hosts;
  for (auto const& [first, threads, on_node] : all) {
    EXPECT_EQ(first, next);
    next += threads;
    if (hosts.empty() || hosts.back() != on_node) hosts.push_back(on_node);
  }
  EXPECT_EQ(static_cast<int>(on.all.size()), next);
  EXPECT_EQ(on.all.threads(), on.threads.size());
  EXPECT_EQ(on.all.processes(), processes());
  EXPECT_EQ(on.all.hosts(), static_cast<int>(hosts.size())) << "a host's ranks are consecutive";
  std::sort(hosts.begin(), hosts.end());
  EXPECT_TRUE(std::unique(hosts.begin(), hosts.end()) == hosts.end());

  on.expect_no_faults([&](member& me) -> std::string {
    bool const here = me.rank() >= on.all.first() && me.rank() < on.all.first() + on.all.threads();
    return here && me.size() == on.all.size() ? "" : "a rank of another process";
  });
}

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
std::vector<std::string> host_names() {
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
void write_tree(std::vector<std::string> const& machines) {
  std::ofstream file("tree");
  file << R"({"tree": {"switch": [)";
  for (std::size_t m = 0; m < machines.size(); ++m) file << (m == 0 ? "" : ", ") << '"' << machines[m] << '"';
  file << "]";
  for (std::size_t m = 0; m < machines.size(); ++m) file << ", \"" << machines[m] << "\": [" << m << "]";
  file << "}}";
}

TEST(Trees, NumberHostsInTheirOrder) {
  own_directory const here;
  auto names = host_names();
  std::reverse(names.begin(), names.end());
  write_tree(names);
  hybrid on(3, {.tree = "tree"});
  // Of the last host all threads come first.
  char mine[MPI_MAX_PROCESSOR_NAME];
  int length = 0;
  MPI_Get_processor_name(mine, &length);
  if (on.all.hosts() == static_cast<int>(names.size())) {
    EXPECT_EQ(said_anywhere(on.all.first() == 0 && names[0] != mine ? std::string(mine) + " is first" : ""), "");
    EXPECT_EQ(said_anywhere(on.all.first() + on.all.threads() == on.all.size() && names.back() != mine
                                ? std::string(mine) + " is last"
                                : ""),
              "");
  }
  on.expect_works();
}

TEST(Trees, ThatLackAHostAreRefusedEverywhere) {
  own_directory const here;
  write_tree({"elsewhere"});
  auto const thrown = outcome_of([] { hybrid(1, {.tree = "tree"}); });
  EXPECT_EQ(said_anywhere(thrown.type == type_name<argument_error>() ? "" : thrown.type + thrown.message), "");
  EXPECT_NE(thrown.message.find("elsewhere"), std::string::npos) << thrown.message;
}

TEST(Trees, ThatOneProcessCannotReadAreRefusedEverywhere) {
  own_directory const here;
  auto const names = host_names();
  bool const lacks_it = process() == processes() - 1;
  if (!lacks_it) write_tree(names);
  auto const thrown = outcome_of([] { hybrid(1, {.tree = "tree"}); });
  bool const right = lacks_it ? thrown.message.find("tree") != std::string::npos
                              : thrown.message.find("process " + std::to_string(processes() - 1)) != std::string::npos;
  EXPECT_EQ(said_anywhere(right ? "" : "threw '" + thrown.type + "' '" + thrown.message + "'"), "");
}

TEST(Trees, ThatDifferAreRefusedEverywhere) {
  auto names = host_names();
  if (names.size() < 2) GTEST_SKIP() << "trees of one host do not differ";
  own_directory const here;
  if (process() == 0) std::reverse(names.begin(), names.end());
  write_tree(names);
  auto const thrown = outcome_of([] { hybrid(1, {.tree = "tree"}); });
  EXPECT_EQ(said_anywhere(thrown.type == type_name<mpi::error>() ? "" : thrown.type + thrown.message), "");
}

std::string fault_in_any_verb(member& me, std::size_t count) {
  auto const composed = noncommutative(composition{});
  static combination const compositions = combine<affine>(composed);
  rank_t const p = me.size();
  for (verb const what : {verb::allreduce, verb::reduce, verb::scan, verb::exclusive_scan, verb::reduce_scatter})
    for (rank_t const root : {rank_t{0}, p / 2, p - 1}) {
      bool const in_place = what != verb::reduce_scatter;
      erased_task const t{{what, even_counts(p, count), true, root, in_place}, &compositions};
      auto mine = prepared<affine>(t, me.rank());
      std::vector<affine> viewed;
      call<affine>(me, t.what, spans_of<affine>(t.what, me.rank(), mine, {}), viewed, composed);
      if (std::string const wrong = fault_of(t, me.rank(), mine, {}, {}); !wrong.empty()) return wrong;
    }
  return {};
}

TEST(Order, OfRanksIsKeptWhereOperationsDoNotCommute) {
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    hybrid on(seed);
    for (std::size_t const count : {1u, 3u, 100u, 5000u})
      on.expect_no_faults([&](member& me) { return fault_in_any_verb(me, count); });
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace coset::mpi_test
