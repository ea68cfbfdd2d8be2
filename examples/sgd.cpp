// SPDX-License-Identifier: Apache-2.0
// Stochastic gradient descent, data-parallel: every thread has the weights, takes its share of each batch, and the
// gradients of all are summed as bfloat16, half the bytes of float. The sums are kept in float on their way and rounded
// once, so that training goes as it does serially in float, with the same batches in the same order.
#include <omp.h>

#include <cmath>
#include <coset/coset.hpp>
#include <cstdint>
#include <random>
#include <span>

#include "race.hpp"

namespace {

constexpr std::size_t classes = 10;
constexpr float rate = 0.02f;

struct samples {
  std::size_t features, count, batch;
  std::vector<float> value;  // `features` of each
  std::vector<std::size_t> label;
};

using weights = std::vector<float>;  // of each class one per feature

/// Every class has a centre; samples lie around that of their class.
samples gather(std::size_t features, std::size_t count, std::size_t batch) {
  std::mt19937 random(17);
  std::normal_distribution<float> normal;
  std::vector<float> centre(classes * features);
  for (float& c : centre) c = 0.3f * normal(random);
  samples all{features, count / batch * batch, batch, {}, {}};
  for (std::size_t s = 0; s < all.count; ++s) {
    all.label.push_back(random() % classes);
    for (std::size_t f = 0; f < features; ++f)
      all.value.push_back(centre[all.label[s] * features + f] + normal(random));
  }
  return all;
}

/// Adds the gradient of samples [first, last) and returns their loss, that of softmax regression.
double learn(samples const& all, std::size_t first, std::size_t last, float const* weight, float* gradient) {
  double loss = 0;
  for (std::size_t s = first; s < last; ++s) {
    float const* const value = &all.value[s * all.features];
    float score[classes], sum = 0, largest = -INFINITY;
    for (std::size_t c = 0; c < classes; ++c) {
      float product = 0;
#pragma omp simd reduction(+ : product)
      for (std::size_t f = 0; f < all.features; ++f) product += weight[c * all.features + f] * value[f];
      score[c] = product;
      largest = std::max(largest, score[c]);
    }
    for (float& of_class : score) sum += of_class = std::exp(of_class - largest);
    loss -= std::log(score[all.label[s]] / sum);
    for (std::size_t c = 0; c < classes; ++c) {
      float const wrong = score[c] / sum - (c == all.label[s] ? 1.0f : 0.0f);
      for (std::size_t f = 0; f < all.features; ++f) gradient[c * all.features + f] += wrong * value[f];
    }
  }
  return loss;
}

/// A step down the gradient of a batch.
template <class Gradient>
void descend(samples const& all, std::span<Gradient const> gradient, weights& weight) {
  float const step = rate / static_cast<float>(all.batch);
  for (std::size_t i = 0; i < weight.size(); ++i) weight[i] -= step * static_cast<float>(gradient[i]);
}

/// The mean loss of every epoch.
using losses = std::vector<double>;

losses serial(samples const& all, std::size_t epochs) {
  weights weight(classes * all.features);
  losses of_epochs;
  for (std::size_t epoch = 0; epoch < epochs; ++epoch) {
    double loss = 0;
    for (std::size_t begin = 0; begin < all.count; begin += all.batch) {
      std::vector<float> gradient(weight.size());
      loss += learn(all, begin, begin + all.batch, weight.data(), gradient.data());
      descend<float>(all, gradient, weight);
    }
    of_epochs.push_back(loss / static_cast<double>(all.count));
  }
  return of_epochs;
}

template <class Gradient>
losses with_coset(coset::team& team, samples const& all, std::size_t epochs) {
  losses of_epochs;
  team.run([&](coset::member& me) {
    weights weight(classes * all.features);
    coset::buffer<float> mine(me, weight.size());
    coset::buffer<Gradient> gradient(me, weight.size());
    std::size_t const first = all.batch * me.rank() / me.size(), last = all.batch * (me.rank() + 1) / me.size();
    for (std::size_t epoch = 0; epoch < epochs; ++epoch) {
      double loss = 0;
      for (std::size_t begin = 0; begin < all.count; begin += all.batch) {
        std::ranges::fill(mine, 0.0f);
        loss += learn(all, begin + first, begin + last, weight.data(), mine.data());
        std::ranges::transform(mine, gradient.begin(), [](float g) { return static_cast<Gradient>(g); });
        coset::allreduce(me, gradient);
        descend<Gradient>(all, gradient, weight);  // the same bits for all, so the weights stay the same
      }
      loss = coset::allreduce(me, loss);
      if (me.rank() == 0) of_epochs.push_back(loss / static_cast<double>(all.count));
    }
  });
  return of_epochs;
}

losses with_openmp(coset::rank_t threads, samples const& all, std::size_t epochs) {
  weights weight(classes * all.features);
  losses of_epochs;
  for (std::size_t epoch = 0; epoch < epochs; ++epoch) {
    double loss = 0;
    for (std::size_t begin = 0; begin < all.count; begin += all.batch) {
      std::vector<float> sums(weight.size());
      float* const gradient = sums.data();
#pragma omp parallel for num_threads(threads) reduction(+ : loss, gradient[:sums.size()])
      for (std::size_t s = begin; s < begin + all.batch; ++s) loss += learn(all, s, s + 1, weight.data(), gradient);
      descend<float>(all, sums, weight);
    }
    of_epochs.push_back(loss / static_cast<double>(all.count));
  }
  return of_epochs;
}

/// Within 2 %, epoch by epoch, and lower in the end.
bool same(losses const& expected, losses const& got) {
  return std::ranges::equal(expected, got, [](double e, double g) { return std::abs(e - g) <= 0.02 * e; }) &&
         (got.size() == 1 || got.back() < got.front());
}

}  // namespace

int main(int argc, char** argv) {
  auto const sizes = example::sizes(argc, argv, "Learns to tell 10 classes by so many features, from SAMPLES samples.",
                                    {{"FEATURES", 512}, {"SAMPLES", 4096}, {"BATCH", 64}, {"EPOCHS", 4}});
  samples const all = gather(sizes[0], std::max(sizes[1], sizes[2]), sizes[2]);
  std::size_t const epochs = sizes[3];
  coset::team team;
  std::printf("%zu samples of %zu features, gradients of %zu values, %zu steps, %u threads\n", all.count, all.features,
              classes * all.features, epochs * all.count / all.batch, team.size());
  losses in_float, in_bfloat16;
  bool const right = example::race<losses>(
      {{"serial, float", [&](losses& found) { found = in_float = serial(all, epochs); }},
       {"coset::allreduce, bfloat16",
        [&](losses& found) { found = in_bfloat16 = with_coset<coset::bfloat16>(team, all, epochs); }},
       {"coset::allreduce, float", [&](losses& found) { found = with_coset<float>(team, all, epochs); }},
       {"OpenMP reduction(+:g[:n])", [&](losses& found) { found = with_openmp(team.size(), all, epochs); }}},
      same);
  std::printf("  mean loss of the epochs in float ");
  for (double loss : in_float) std::printf(" %.4f", loss);
  std::printf("\n                       in bfloat16");
  for (double loss : in_bfloat16) std::printf(" %.4f", loss);
  std::puts("");
  return right ? 0 : 1;
}
