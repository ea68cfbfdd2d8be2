// SPDX-License-Identifier: Apache-2.0
// What `coset bench allreduce` says, asked by a stranger: µs of {each rank rewrites its floats, allreduce, each rank reads
// the whole result}, of teams made anew, since where their lines lie counts at 8 B. usage: outside BYTES... (ranks: one
// per core)
#include <algorithm>
#include <chrono>
#include <coset/coset.hpp>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

namespace {

struct alignas(64) line {
  float items[16];
};
using array = std::unique_ptr<line[]>;

double cycle(coset::team& team, std::size_t count, std::size_t iterations) {
  std::vector<array> in(team.size()), out(team.size());
  std::vector<float> wrong(team.size());
  auto const run = [&](std::size_t times) {
    team.run([&](coset::member& me) {
      array& mine = in[me.rank()];
      array& result = out[me.rank()];
      if (!mine) mine = array(new line[count / 16 + 1]()), result = array(new line[count / 16 + 1]());
      float* const give = mine[0].items;
      float* const get = result[0].items;
      for (std::size_t k = 0; k < times; ++k) {
        auto const value = static_cast<float>(k % 1000);
        std::fill_n(give, count, value);
        coset::allreduce(me, std::span<float const>(give, count), std::span(get, count), coset::plus{});
        float const right = value * static_cast<float>(me.size());
        unsigned differ = 0;
        for (std::size_t i = 0; i < count; ++i) differ += get[i] != right ? 1 : 0;
        wrong[me.rank()] += static_cast<float>(differ);
      }
    });
  };
  run(iterations / 10 + 2);
  auto const begin = std::chrono::steady_clock::now();
  run(iterations);
  std::chrono::duration<double, std::micro> const took = std::chrono::steady_clock::now() - begin;
  if (std::ranges::any_of(wrong, [](float w) { return w != 0; })) std::exit((std::puts("wrong results"), 1));
  return took.count() / static_cast<double>(iterations);
}

}  // namespace

int main(int argc, char** argv) {
  for (int a = 1; a < argc; ++a) {
    std::size_t const bytes = std::strtoull(argv[a], nullptr, 10);
    std::vector<double> times;
    for (int each = 0; each < 11; ++each) {
      coset::team team;
      times.push_back(cycle(team, bytes / sizeof(float), std::max<std::size_t>(4, 20'000'000 / (bytes + 1000))));
    }
    std::ranges::nth_element(times, times.begin() + 5);
    std::printf("%12zu B %12.3f us\n", bytes, times[5]);
  }
}
