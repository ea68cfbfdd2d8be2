// SPDX-License-Identifier: Apache-2.0
// What an allreduce sends over each host's link, by the kernel's account, against what it has to.
#include <fstream>
#include <sstream>

#include "mpi/processes.hpp"

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

/// In vectors of `count` floats, for one of `times` allreduces.
link_bytes vectors_per_allreduce(hybrid& on, std::size_t count, int times) {
  auto const many = [&](int number) {
    on.expect_no_faults([&](member& me) -> std::string {
      std::vector<float> items(count, 1);
      for (int k = 0; k < number; ++k) {
        std::fill(items.begin(), items.end(), 1.0f);
        allreduce(me, items);
      }
      return items.back() == static_cast<float>(me.size()) ? "" : "a sum is wrong";
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

TEST(Traffic, OverEachHostsLinkIsThatOfAnAllreduceOfHosts) {
  hybrid on(1);
  double const hosts = on.all.hosts();
  if (bytes_of_link().sent == 0 || hosts < 2) GTEST_SKIP() << "no links here";
  auto const [received, sent] = vectors_per_allreduce(on, 1 << 20, 4);
  double const least = 2 * (hosts - 1) / hosts, most = 1.1 * least;  // headers and acknowledgements
  std::string fault;
  for (auto const& [what, vectors] : {std::pair{"sent", sent}, {"received", received}}) {
    if (vectors < least || vectors > most)
      fault += std::string(what) + " " + std::to_string(vectors) + " vectors, not " + std::to_string(least) + "; ";
  }
  EXPECT_EQ(said_anywhere(fault), "") << on.all.describe();
}

}  // namespace
}  // namespace coset::mpi_test
