// SPDX-License-Identifier: Apache-2.0
#include "mpi/network.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <span>
#include <vector>

namespace coset::inline COSET_ABI::mpi {
namespace {

using clock = std::chrono::steady_clock;

constexpr int tries_at_once = 5, most_tries = 25, most_peers = 4;
/// So long short messages are tried, if not often enough before: where processes wait for processors, they take milliseconds.
constexpr double longest_look = 5e-3;
constexpr int short_bytes = 8, first_bytes = 64 * 1024, most_bytes = 4 * 1024 * 1024;
/// Shorter bursts say more of buffers on the way than of the way.
constexpr double least_seconds = 2e-3;

/// The first processes of all domains: what one sends to the next ones, all send at once.
class circle_of_hosts {
 public:
  circle_of_hosts(communicator const& all, bool speaks)
      : of_(communicator::part_of(all.get(), speaks, all.rank())),
        self_(is_empty() ? 0 : of_.rank()),
        size_(is_empty() ? 1 : of_.size()) {}

  bool is_empty() const { return of_.get() == MPI_COMM_NULL; }

  /// For the longest messages: the system gives the pages as they are used.
  void make_room() {
    if (is_empty()) return;
    in_.reserve(most_bytes);
    out_.reserve(most_bytes);
  }

  /// A message to each of the next hosts, or several to the only other one: different ones share no packet.
  double seconds(int messages, int bytes) {
    auto const length = static_cast<std::size_t>(bytes);
    in_.resize(length * static_cast<std::size_t>(messages));
    out_.resize(length);
    std::array<MPI_Request, 2 * most_peers> under_way;
    MPI_Request* next = under_way.data();
    auto const begin = clock::now();
    for (int k = 0; k < messages; ++k) {
      int const distance = 1 + k % (size_ - 1);
      require(MPI_Irecv(in_.data() + length * static_cast<std::size_t>(k), bytes, MPI_BYTE,
                        (self_ + size_ - distance) % size_, 0, of_.get(), next++),
              "MPI_Irecv");
      require(MPI_Isend(out_.data(), bytes, MPI_BYTE, (self_ + distance) % size_, 0, of_.get(), next++), "MPI_Isend");
    }
    require(MPI_Waitall(2 * messages, under_way.data(), MPI_STATUSES_IGNORE), "MPI_Waitall");
    return std::chrono::duration<double>(clock::now() - begin).count();
  }

  int peers() const { return std::clamp(size_ - 1, 2, most_peers); }

 private:
  communicator of_;
  int self_, size_;
  std::vector<std::byte> in_, out_;
};

double median(std::span<double> all) {
  std::ranges::nth_element(all, all.begin() + std::ssize(all) / 2);
  return all[all.size() / 2];
}

double long_round(circle_of_hosts& all, int bytes) {
  std::array three{all.seconds(1, bytes), all.seconds(1, bytes), all.seconds(1, bytes)};
  return median(three);
}

double slowest(communicator const& all, double mine) {
  double found = 0;
  require(MPI_Allreduce(&mine, &found, 1, MPI_DOUBLE, MPI_MAX, all.get()), "MPI_Allreduce");
  return found;
}

struct short_rounds {
  double one, several;  ///< of one message, and of one for each peer
};

/// In turns, as the machine may be busy for a while. What is typical counts, not what is possible: where ranks wait for
/// processors, every round does. Collective over all.
short_rounds typical(communicator const& all, circle_of_hosts& hosts) {
  std::array<double, most_tries> one, several;
  std::size_t count = 0;
  for (int tries = 0; tries < most_tries; tries += tries_at_once) {
    double spent = 0;
    for (int k = 0; k < tries_at_once && !hosts.is_empty(); ++k) {
      one[count] = hosts.seconds(1, short_bytes);
      several[count] = hosts.seconds(hosts.peers(), short_bytes);
      spent += one[count] + several[count];
      ++count;
    }
    if (slowest(all, spent) * (tries / tries_at_once + 1) > longest_look) break;
  }
  return hosts.is_empty() ? short_rounds{}
                          : short_rounds{median(std::span(one).first(count)), median(std::span(several).first(count))};
}

}  // namespace

schedule::link measured_network(communicator const& all, bool speaks) {
  circle_of_hosts hosts(all, speaks);
  all_or_none(
      all, [&] { hosts.make_room(); }, "cannot measure the network");
  short_rounds const mine = typical(all, hosts);
  double const one = slowest(all, mine.one);
  double const more = slowest(all, hosts.is_empty() ? 0 : (mine.several - mine.one) / (hosts.peers() - 1));
  double const per_message = std::clamp(more, 0.0, one);
  double per_byte = 0;
  for (int bytes = first_bytes; bytes <= most_bytes; bytes *= 2) {
    double const took = slowest(all, hosts.is_empty() ? 0 : long_round(hosts, bytes));
    per_byte = std::max(took - one, 0.0) / bytes;
    if (took > least_seconds) break;
  }
  return {UINT32_MAX, one - per_message, per_byte, per_message};
}

}  // namespace coset::mpi
