// SPDX-License-Identifier: Apache-2.0
// A user's program without a race, which nothing but coset's calls orders: each of them is there once, with arrays that the
// program itself reads and writes, and operations that the compiler of the program sees.
#include <coset/coset.h>
#include <coset/coset.hpp>

#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr coset::rank_t ranks = 3;
auto const greater = [](double a, double b) { return a > b ? a : b; };

void require(bool right, char const* what) {
  if (right) return;
  std::printf("wrong: %s\n", what);
  std::exit(1);
}

/// Every verb, called or started, with rank 1 as root where there is one.
void all_verbs(coset::member& me, std::size_t count, std::vector<double>& common) {
  double const mine = me.rank() + 1.0;
  std::vector<double> x(count, mine), y(count), whole(count * ranks, mine), pieces(count * ranks);
  coset::allreduce(me, x, y, greater);
  require(y.front() == ranks && y.back() == ranks, "allreduce");
  coset::allreduce(me, x, y);
  require(y.back() == 6, "the sum of allreduce");
  coset::start_allreduce(me, x, y, greater).wait();
  coset::reduce(me, x, y, 1, greater);
  coset::reduce_scatter(me, whole, y, greater);
  coset::allgather(me, x, pieces);
  require(pieces.front() == 1 && pieces.back() == ranks, "allgather");
  coset::broadcast(me, y, 1);
  coset::gather(me, x, pieces, 1);
  coset::scatter(me, whole, y, 1);
  require(y.back() == 2, "scatter");
  coset::all_to_all(me, whole, pieces);
  coset::scan(me, x, y, greater);
  coset::exclusive_scan(me, x, y, greater);
  coset::barrier(me);
  coset::reduce_shared(me, x, common, greater);
  require(common.back() == ranks, "reduce_shared");
  require(coset::allreduce_view(me, x, greater)[count - 1] == ranks, "allreduce_view");
  coset::request one = coset::start_scan(me, x, y), other = coset::start_broadcast(me, pieces, 0);
  while (!one.test()) {
  }
  other.wait();
  std::vector<std::size_t> const counts{count, 0, 2 * count};
  std::vector<double> part(counts[me.rank()], mine), parts(3 * count);
  coset::allgather(me, part, parts, counts);
  require(parts.back() == 3, "allgather with counts");
  coset::member half = me.split(me.rank() == 0 ? 0 : 1);
  coset::allreduce(half, x, greater);
}

/// One rank writes, all read, and only calls order that.
void orders(coset::member& me, std::vector<double>& written) {
  for (coset::rank_t writer = 0; writer < ranks; ++writer) {
    if (me.rank() == writer)
      for (double& v : written) v = writer;
    coset::barrier(me);
    for (double const v : written) require(v == writer, "what another rank has written");
    coset::request all_have_read = coset::start_barrier(me);
    all_have_read.wait();
  }
}

void team_of_its_own() {
  coset::team team({.ranks = ranks, .place = coset::placement::unbound});
  std::vector<double> written(1000);
  coset::plan<double> const plan(team, coset::verb::allreduce, 1000);
  for (std::size_t const count : {1, 7, 1000, 100000}) {
    std::vector<double> common(count);
    team.run([&](coset::member& me) {
      all_verbs(me, count, common);
      orders(me, written);
      std::vector<double> x(1000, 1), y(1000);
      plan.execute(me, x, y);
    });
    require(common.front() == ranks, "what a run has left");
  }
  for (coset::rank_t thrower = 0; thrower < ranks; ++thrower) {
    std::string said;
    try {
      team.run([&](coset::member& me) {
        std::vector<double> x(100000, 1);
        coset::allreduce(me, x);
        if (me.rank() == thrower) throw std::runtime_error("rank " + std::to_string(thrower));
        coset::allreduce(me, x);
      });
    } catch (std::exception const& e) {
      said = e.what();
    }
    require(said == "rank " + std::to_string(thrower), "the exception of a rank");
  }
}

void adopted_threads() {
  auto const team = coset::team::adopt(ranks);
  std::vector<double> written(1000), common(1000);
  auto const work = [&](coset::rank_t r) {
    auto me = team->join(r);
    all_verbs(*me, 1000, common);
    orders(*me, written);
  };
  std::vector<std::jthread> threads;
  for (coset::rank_t r = 1; r < ranks; ++r) threads.emplace_back(work, r);
  work(0);
}

void reducers() {
  std::vector<int> bins(1000), few(1000);
  int most = 0;
  coset::reducer<int> dense(bins.size());
  coset::sparse_reducer<int> sparse(few.size());
  coset::joint_reducer joint(bins, coset::into(most, coset::maximum{}));
  auto const add = [&](int k) {
    for (int& v : dense.local()) ++v;
    sparse.local()[static_cast<std::size_t>(k)] += k;
    auto [here, top] = joint.local();
    ++here[0];
    top = std::max(top, k);
  };
  {
    std::vector<std::jthread> threads;
    for (int k = 0; k < 4; ++k) threads.emplace_back(add, k);
  }
  dense.combine_into(bins);
  joint.combine();
  sparse.combine_into(few);
  coset::team team({.ranks = ranks, .place = coset::placement::unbound});
  for (int round = 0; round < 3; ++round) {
    team.run([&](coset::member& me) {
      for (int& v : dense.local(me)) ++v;
      auto [here, top] = joint.local(me);
      ++here[1];
      top = 7;
      dense.combine_into(bins, me);
      joint.combine(me);
      require(bins[1] >= 4 + static_cast<int>(ranks), "the bins of a team");
    });
  }
  require(bins[0] == 4 + 4 + 9 && few[3] == 3 && most == 7, "reducers");
}

coset_status body(coset_member* me, void* context) {
  auto& written = *static_cast<std::vector<double>*>(context);
  std::vector<double> x(1000, 1), y(1000);
  if (coset_member_rank(me) == 1) written[0] = 5;
  coset_allreduce(me, x.data(), y.data(), x.size(), COSET_FLOAT64, COSET_PLUS);
  require(y[999] == ranks && written[0] == 5, "C");
  return coset_barrier(me);
}

void functions_of_c() {
  coset_team_options options = COSET_TEAM_OPTIONS;
  options.ranks = ranks;
  options.placement = COSET_UNBOUND;
  coset_team* team = nullptr;
  require(coset_team_create(&options, &team) == COSET_SUCCESS, "a team of C");
  std::vector<double> written(1);
  for (int k = 0; k < 3; ++k) require(coset_team_run(team, body, &written) == COSET_SUCCESS, "a run of C");
  coset_team_free(team);
}

}  // namespace

int main() {
  team_of_its_own();
  adopted_threads();
  reducers();
  functions_of_c();
  std::puts("right");
}
