// SPDX-License-Identifier: Apache-2.0
// What `coset bench allreduce` says, asked by a stranger: µs of {each rank rewrites its floats, allreduce, each rank reads
// the whole result}, of teams made anew, since where their lines lie counts at 8 B. usage: outside BYTES... (ranks: one
// per core)
#include <algorithm>
#include <bit>
#include <chrono>
#include <coset/coset.hpp>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

namespace {

/// Arrays of all ranks begin at different places of their pages: a load waits for a store to the same place of another.
class array {
 public:
  array(std::size_t count, std::size_t number, std::size_t of)
      : pages_(new page[count / items_per_page + 2]()),
        begin_(pages_[0].items + number * items_per_page / of / 32 * 32) {}
  float* begin() const { return begin_; }

 private:
  static constexpr std::size_t items_per_page = 1024;
  struct alignas(4096) page {
    float items[items_per_page];
  };
  std::unique_ptr<page[]> pages_;
  float* begin_;
};

double median(std::vector<double>& times) {
  std::ranges::nth_element(times, times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2));
  return times[times.size() / 2];
}

/// Of groups of so many cycles: what a machine does with its processors now and then would be most of a mean.
double cycle(coset::team& team, std::size_t count, std::size_t group) {
  using clock = std::chrono::steady_clock;
  constexpr std::size_t groups = 100, calls_until_learned = 64;  // by then each call has the storage that serves best
  std::size_t const warming_up = 10 + calls_until_learned / group;
  std::vector<double> times;
  std::vector<unsigned> wrong(team.size());
  team.run([&](coset::member& me) {
    array const mine(count, 2 * me.rank(), 2 * me.size()), result(count, 2 * me.rank() + 1, 2 * me.size());
    float* const give = mine.begin();
    float* const get = result.begin();
    unsigned differ = 0;  // here: ranks that write side by side in memory would wait for one another
    for (std::size_t g = 0; g < warming_up + groups; ++g) {
      auto const begin = clock::now();
      for (std::size_t k = 0; k < group; ++k) {
        auto const value = static_cast<float>(k % 1000);
        std::fill_n(give, count, value);
        coset::allreduce(me, std::span<float const>(give, count), std::span(get, count), coset::plus{});
        auto const right = std::bit_cast<unsigned>(value * static_cast<float>(me.size()));
        for (std::size_t i = 0; i < count; ++i) differ |= std::bit_cast<unsigned>(get[i]) ^ right;
      }
      std::chrono::duration<double, std::micro> const took = clock::now() - begin;
      if (me.rank() == 0 && g >= warming_up) times.push_back(took.count() / static_cast<double>(group));
    }
    wrong[me.rank()] = differ;
  });
  if (std::ranges::any_of(wrong, [](unsigned w) { return w != 0; })) std::exit((std::puts("wrong results"), 1));
  return median(times);
}

}  // namespace

int main(int argc, char** argv) {
  setenv("COSET_IDLE", "0", 1);  // else all teams were the first one's lines
  for (int a = 1; a < argc; ++a) {
    std::size_t const bytes = std::strtoull(argv[a], nullptr, 10);
    std::vector<double> times;
    for (int each = 0; each < 11; ++each) {
      coset::team team;
      times.push_back(cycle(team, bytes / sizeof(float), 1 + 100'000 / (bytes + 1000)));
    }
    std::printf("%12zu B %12.3f us\n", bytes, median(times));
  }
}
