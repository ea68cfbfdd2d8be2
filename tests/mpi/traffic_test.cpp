// SPDX-License-Identifier: Apache-2.0
// What collectives send over each host's link, by the kernel's account, against what it has to.
#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>

#include "command/shown/networks/link_traffic.hpp"
#include "mpi/processes.hpp"
#include "planning/schedule/registry/algorithm.hpp"

namespace coset::mpi_test {
namespace {

struct link_bytes {
  double received = 0, sent = 0;
};

/// So far over the link of this process's host; only a host in a namespace has that link.
link_bytes bytes_of_link() {
  std::ifstream file("/proc/self/net/dev");
  for (std::string line; std::getline(file, line);) {
    auto const colon = line.find("eth0:");
    if (colon == std::string::npos) continue;
    std::istringstream numbers(line.substr(colon + 5));
    link_bytes found;
    double skipped = 0;
    numbers >> found.received;
    for (int k = 0; k < 7; ++k) numbers >> skipped;
    numbers >> found.sent;
    return found;
  }
  return {};
}

/// In vectors of `count` floats, for one of `times` calls of `work(member, items)`, which says what is wrong.
template <class Work>
link_bytes vectors_per_call(hybrid& on, std::size_t count, int times, Work work) {
  auto const many = [&](int number) {
    on.expect_no_faults([&](member& me) -> std::string {
      std::vector<float> items(count, 1);
      std::string wrong;
      for (int k = 0; k < number; ++k) {
        std::fill(items.begin(), items.end(), 1.0f);
        wrong += work(me, items);
      }
      return wrong;
    });
    MPI_Barrier(MPI_COMM_WORLD);
  };
  many(1);  // connections are made
  auto const before = bytes_of_link();
  many(times);
  auto const after = bytes_of_link();
  double const all = static_cast<double>(count * sizeof(float)) * times;
  return {(after.received - before.received) / all, (after.sent - before.sent) / all};
}

link_bytes vectors_per_allreduce(hybrid& on, std::size_t count, int times) {
  return vectors_per_call(on, count, times, [](member& me, std::vector<float>& items) {
    allreduce(me, items);
    return items.back() == static_cast<float>(me.size()) ? "" : "a sum is wrong";
  });
}

/// Measured and wanted may differ by headers and acknowledgements.
std::string unless_about(char const* what, double vectors, double wanted) {
  bool const right = vectors >= wanted && vectors <= 1.1 * wanted;
  return right ? ""
               : std::string(what) + " " + std::to_string(vectors) + " vectors, not " + std::to_string(wanted) + "; ";
}

bool there_are_links(hybrid const& on) { return bytes_of_link().sent != 0 && on.all.hosts() > 1; }

TEST(Traffic, OverEachHostsLinkIsThatOfAnAllreduceOfHosts) {
  hybrid on(1);
  if (!there_are_links(on)) GTEST_SKIP() << "no links here";
  double const hosts = on.all.hosts(), least = 2 * (hosts - 1) / hosts;
  auto const [received, sent] = vectors_per_allreduce(on, 1 << 20, 4);
  EXPECT_EQ(said_anywhere(unless_about("sent", sent, least) + unless_about("received", received, least)), "")
      << on.all.describe();
}

/// Which host each rank of the whole team is on, and which of them this process is on.
std::pair<std::vector<rank_t>, rank_t> hosts_of_ranks(hybrid const& on) {
  MPI_Comm here;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &here);
  unsigned first_here = on.all.first();
  MPI_Allreduce(MPI_IN_PLACE, &first_here, 1, MPI_UNSIGNED, MPI_MIN, here);
  MPI_Comm_free(&here);
  std::vector<unsigned> firsts(static_cast<std::size_t>(processes()));
  MPI_Allgather(&first_here, 1, MPI_UNSIGNED, firsts.data(), 1, MPI_UNSIGNED, MPI_COMM_WORLD);
  std::set<unsigned> const begins(firsts.begin(), firsts.end());
  std::vector<rank_t> hosts;
  for (rank_t r = 0; r < on.all.size(); ++r)
    hosts.push_back(static_cast<rank_t>(std::distance(begins.begin(), begins.upper_bound(r))) - 1);
  return {hosts, hosts[on.all.first()]};
}

/// What its ranks do not keep leaves a host once, and what they do not have comes once.
TEST(Traffic, OfPiecesIsWhatOtherHostsHaveOfThem) {
  hybrid on(1);
  if (!there_are_links(on)) GTEST_SKIP() << "no links here";
  auto const [hosts, mine] = hosts_of_ranks(on);
  auto const here = static_cast<double>(std::count(hosts.begin(), hosts.end(), mine));
  double const others = 1 - here / on.all.size();
  // Processes of a host share little staging; pieces for which it has no room go one by one.
  std::size_t const each = 1 << 11, count = each * on.all.size();
  auto const sent = vectors_per_call(on, count, 100, [&](member& me, std::vector<float>& items) {
                      std::vector<float> own(each);
                      reduce_scatter(me, items, own);
                      return own.back() == static_cast<float>(me.size()) ? "" : "a sum is wrong";
                    }).sent;
  auto const received = vectors_per_call(on, count, 100, [&](member& me, std::vector<float>& items) {
                          std::vector<float> const own(each, static_cast<float>(me.rank()));
                          allgather(me, own, items);
                          return items.back() == static_cast<float>(me.size() - 1) ? "" : "a piece is wrong";
                        }).received;
  EXPECT_EQ(said_anywhere(unless_about("sent", sent, others) + unless_about("received", received, others)), "")
      << on.all.describe();
}

TEST(Traffic, OfARingOfAllRanksIsWhatTheModelSays) {
  setenv("COSET_ALLREDUCE", "ring:0-", 1);
  hybrid on(1);
  unsetenv("COSET_ALLREDUCE");
  if (!there_are_links(on)) GTEST_SKIP() << "no links here";
  auto const [hosts, mine] = hosts_of_ranks(on);
  auto const plan = schedule::make(schedule::algorithm::parse("ring"), on.all.size());
  auto const links = schedule::host_traffic(plan, hosts, schedule::fetched::once_per_host);
  auto const [received, sent] = vectors_per_allreduce(on, 1 << 20, 4);
  EXPECT_EQ(said_anywhere(unless_about("sent", sent, links[mine].out.value()) +
                          unless_about("received", received, links[mine].in.value())),
            "")
      << on.all.describe();
}

}  // namespace
}  // namespace coset::mpi_test
