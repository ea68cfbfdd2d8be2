// SPDX-License-Identifier: Apache-2.0
// PageRank: a sparse matrix's transpose times a vector, over and over, without the transpose. The matrix lies by rows,
// page by page the pages that it links to, so each page pushes its rank along its links. Threads that have different
// pages push to the same ones: each pushes into sums of its own, which are reduced into one vector that all read.
#include <omp.h>

#include <cmath>
#include <coset/coset.hpp>
#include <cstdint>
#include <random>

#include "race.hpp"

namespace {

/// Page p links to to[begin[p]] … to[begin[p + 1]].
struct links {
  std::vector<std::size_t> begin{0};
  std::vector<std::uint32_t> to;
  std::size_t pages() const { return begin.size() - 1; }
};

/// Popular pages have low numbers, and more links to them than the others.
links surf(std::size_t pages, std::size_t links_each) {
  std::mt19937 random(3);
  std::uniform_real_distribution<double> uniform(0, 1);
  links web;
  for (std::size_t p = 0; p < pages; ++p) {
    for (std::size_t l = 0; l < 1 + random() % (2 * links_each); ++l)
      web.to.push_back(static_cast<std::uint32_t>(std::pow(uniform(random), 3) * static_cast<double>(pages)));
    web.begin.push_back(web.to.size());
  }
  return web;
}

/// A rank is what all pages have alike and, by this factor, what other pages push.
constexpr double damping = 0.85;

double rank_of(double pushed, std::size_t pages) {
  return (1 - damping) / static_cast<double>(pages) + damping * pushed;
}

/// Pushes the ranks of pages [first, last), given what was pushed to them in the round before.
void push(links const& web, std::size_t first, std::size_t last, double const* before, double* now) {
  for (std::size_t p = first; p < last; ++p) {
    std::size_t const begin = web.begin[p], end = web.begin[p + 1];
    double const share = rank_of(before[p], web.pages()) / static_cast<double>(end - begin);
    for (std::size_t l = begin; l < end; ++l) now[web.to[l]] += share;
  }
}

using ranks = std::vector<double>;

ranks in_the_beginning(links const& web) { return ranks(web.pages(), 1 / static_cast<double>(web.pages())); }

ranks serial(links const& web, std::size_t rounds) {
  ranks pushed = in_the_beginning(web);
  for (std::size_t round = 0; round < rounds; ++round) {
    ranks now(web.pages());
    push(web, 0, web.pages(), pushed.data(), now.data());
    pushed = now;
  }
  return pushed;
}

ranks with_coset(coset::team& team, links const& web, std::size_t rounds) {
  ranks pushed = in_the_beginning(web);
  team.run([&](coset::member& me) {
    coset::buffer<double> mine(me, web.pages());
    std::size_t const first = web.pages() * me.rank() / me.size(), last = web.pages() * (me.rank() + 1) / me.size();
    for (std::size_t round = 0; round < rounds; ++round) {
      std::ranges::fill(mine, 0.0);
      push(web, first, last, pushed.data(), mine.data());
      coset::reduce_shared(me, mine, pushed);  // written when all have come, so when nobody reads the old ones any more
    }
  });
  return pushed;
}

ranks with_openmp(coset::rank_t threads, links const& web, std::size_t rounds) {
  std::size_t const pages = web.pages();
  ranks pushed = in_the_beginning(web);
  for (std::size_t round = 0; round < rounds; ++round) {
    ranks sums(pages);
    double* const now = sums.data();
#pragma omp parallel for num_threads(threads) schedule(static) reduction(+ : now[:pages])
    for (std::size_t p = 0; p < pages; ++p) push(web, p, p + 1, pushed.data(), now);
    pushed = sums;
  }
  return pushed;
}

ranks with_atomics(coset::rank_t threads, links const& web, std::size_t rounds) {
  ranks pushed = in_the_beginning(web);
  for (std::size_t round = 0; round < rounds; ++round) {
    ranks now(web.pages());
#pragma omp parallel for num_threads(threads) schedule(static)
    for (std::size_t p = 0; p < web.pages(); ++p) {
      std::size_t const begin = web.begin[p], end = web.begin[p + 1];
      double const share = rank_of(pushed[p], web.pages()) / static_cast<double>(end - begin);
      for (std::size_t l = begin; l < end; ++l) {
        double& sum = now[web.to[l]];
#pragma omp atomic
        sum += share;
      }
    }
    pushed = now;
  }
  return pushed;
}

/// But for the order of the additions.
bool same(ranks const& expected, ranks const& got) {
  return std::ranges::equal(expected, got,
                            [](double e, double g) { return std::abs(g - e) <= 1e-12 * (std::abs(e) + 1e-6); });
}

}  // namespace

int main(int argc, char** argv) {
  auto const sizes =
      example::sizes(argc, argv, "Ranks PAGES pages with LINKS links each, in the mean, in so many rounds.",
                     {{"PAGES", 20000}, {"LINKS", 8}, {"ROUNDS", 50}});
  links const web = surf(sizes[0], sizes[1]);
  std::size_t const rounds = sizes[2];
  coset::team team;
  std::printf("%zu pages with %zu links, %zu rounds, %u threads\n", web.pages(), web.to.size(), rounds, team.size());
  bool const right = example::race<ranks>(
      {{"serial", [&](ranks& found) { found = serial(web, rounds); }},
       {"coset::reduce_shared", [&](ranks& found) { found = with_coset(team, web, rounds); }},
       {"OpenMP reduction(+:y[:n])", [&](ranks& found) { found = with_openmp(team.size(), web, rounds); }},
       {"OpenMP atomic", [&](ranks& found) { found = with_atomics(team.size(), web, rounds); }}},
      same);
  return right ? 0 : 1;
}
