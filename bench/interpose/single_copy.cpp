// SPDX-License-Identifier: Apache-2.0
// Two processes each give the other an array, as in an allgather: by a single copy out of the other's memory
// (process_vm_readv), and by two copies through memory that both share, in segments that their own caches hold. By turns.
//
// usage: single_copy [BYTES…]
#include <fmt/format.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <new>
#include <stdexcept>
#include <vector>

namespace {

constexpr std::size_t segment = 64 << 10;
constexpr int rounds = 15;

/// What both processes see.
struct meeting_place {
  struct alignas(4096) side {
    std::atomic<std::size_t> arrived = 0, staged = 0;
    std::byte const* array = nullptr;
    pid_t process = 0;
    alignas(256) std::array<std::byte, 2 * segment> staging;  // one segment is read while the next is written
  };
  std::array<side, 2> sides;
};

void await(std::atomic<std::size_t> const& count, std::size_t wanted) {
  while (count.load(std::memory_order_acquire) < wanted) {
  }
}

class exchange {
 public:
  exchange(meeting_place& place, std::size_t self, std::size_t bytes)
      : mine_(place.sides[self]), theirs_(place.sides[1 - self]), in_(bytes, std::byte(self + 1)), out_(2 * bytes) {
    mine_.array = in_.data();
    mine_.process = getpid();
    own_ = out_.data() + self * bytes;
    other_ = out_.data() + (1 - self) * bytes;
  }

  void meet() {
    std::size_t const next = mine_.arrived.load(std::memory_order_relaxed) + 1;
    mine_.arrived.store(next, std::memory_order_release);
    await(theirs_.arrived, next);
  }

  void by_a_single_copy() {
    meet();  // the other's array is ready
    iovec const to{other_, in_.size()}, from{const_cast<std::byte*>(theirs_.array), in_.size()};
    if (process_vm_readv(theirs_.process, &to, 1, &from, 1, 0) != static_cast<ssize_t>(in_.size()))
      throw std::runtime_error(fmt::format("process_vm_readv: {}", std::strerror(errno)));
    std::memcpy(own_, in_.data(), in_.size());
    meet();  // and may change
  }

  void through_staging() {
    for (std::size_t at = 0; at < in_.size(); at += segment) {
      std::size_t const now = std::min(segment, in_.size() - at);
      std::memcpy(mine_.staging.data() + staged_ % 2 * segment, in_.data() + at, now);
      mine_.staged.store(++staged_, std::memory_order_release);
      std::memcpy(own_ + at, in_.data() + at, now);
      await(theirs_.staged, staged_);
      std::memcpy(other_ + at, theirs_.staging.data() + (staged_ - 1) % 2 * segment, now);
    }
    meet();
  }

  bool is_right() const { return own_[0] == in_[0] && own_[in_.size() - 1] == in_[0] && other_[0] != in_[0]; }

 private:
  meeting_place::side &mine_, &theirs_;
  std::vector<std::byte> in_, out_;
  std::byte *own_, *other_;
  std::size_t staged_ = mine_.staged;
};

/// Microseconds that one takes, at most of both processes, as both wait for each other.
template <class Way>
double time_of(exchange& between, Way way) {
  between.meet();
  auto const begin = std::chrono::steady_clock::now();
  way();
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count();
}

void compare(meeting_place& place, std::size_t self, std::size_t bytes) {
  exchange between(place, self, bytes);
  std::vector<double> single, staged;
  for (int round = 0; round < rounds; ++round) {
    single.push_back(time_of(between, [&] { between.by_a_single_copy(); }));
    staged.push_back(time_of(between, [&] { between.through_staging(); }));
    if (!between.is_right()) throw std::runtime_error("wrong values");
  }
  between.meet();  // nobody reads this one's array any more
  if (self != 0) return;
  std::ranges::sort(single);
  std::ranges::sort(staged);
  double const one = single[rounds / 2], two = staged[rounds / 2];
  fmt::print("| {} KiB | {:.1f} | {:.1f} | {:.2f}× |\n", bytes >> 10, one, two, one / two);
}

void stay_on(std::size_t processor) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(processor, &set);
  sched_setaffinity(0, sizeof set, &set);
}

}  // namespace

int main(int argc, char** argv) try {
  std::vector<std::size_t> sizes;
  for (int i = 1; i < argc; ++i) sizes.push_back(std::max<std::size_t>(std::strtoull(argv[i], nullptr, 0), 1));
  if (sizes.empty()) sizes = {16 << 10, 256 << 10, 1 << 20, 4 << 20, 8 << 20, 32 << 20};
  setpgid(0, 0);
  void* const shared = mmap(nullptr, sizeof(meeting_place), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) throw std::bad_alloc();
  auto& place = *new (shared) meeting_place;
  pid_t const child = fork();
  std::size_t const self = child == 0 ? 1 : 0;
  stay_on(self);
  if (self == 0) fmt::print("| each gives | single copy, µs | two, in segments | times as fast |\n|---|---|---|---|\n");
  for (std::size_t const bytes : sizes) compare(place, self, bytes);
  if (self == 0) wait(nullptr);
  return 0;
} catch (std::exception const& e) {
  fmt::print(stderr, "{}\n", e.what());
  kill(0, SIGTERM);  // the other waits for this one
  return 1;
}
