// SPDX-License-Identifier: Apache-2.0
// Gradients of a network's layers, reduced while the layers below are still computed: each layer is a coroutine that waits
// for its own request. The step's loss, its largest gradient and its counts go together in one operation.
#include <algorithm>
#include <cmath>
#include <coset/async/task.hpp>
#include <coset/coset.hpp>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

struct layer {
  std::vector<float> weights, gradient;
  explicit layer(std::size_t size) : weights(size, 1.0f), gradient(size) {}

  /// Stands for back-propagation: more work where layers are larger.
  void differentiate(unsigned rank, int step) {
    for (std::size_t i = 0; i < gradient.size(); ++i)
      gradient[i] = static_cast<float>((i + rank + static_cast<std::size_t>(step)) % 16);
  }
  void update(unsigned ranks) {
    for (std::size_t i = 0; i < weights.size(); ++i) weights[i] -= gradient[i] / 1024 / static_cast<float>(ranks);
  }
};

coset::task reduced(coset::member& me, layer& of, int step) {
  of.differentiate(me.rank(), step);
  co_await coset::start_allreduce(me, of.gradient);  // the next layer begins
  of.update(me.size());
}

void train(coset::member& me, layer& top, layer& middle, layer& bottom, int step) {
  coset::run_until_done(reduced(me, top, step), reduced(me, middle, step), reduced(me, bottom, step));
}

/// What one layer's weights are after these steps, computed by one thread.
float expected_weight(std::size_t i, unsigned ranks, int steps) {
  float weight = 1;
  for (int step = 0; step < steps; ++step) {
    float sum = 0;
    for (unsigned r = 0; r < ranks; ++r) sum += static_cast<float>((i + r + static_cast<std::size_t>(step)) % 16);
    weight -= sum / 1024 / static_cast<float>(ranks);
  }
  return weight;
}

}  // namespace

int main() {
  constexpr int steps = 20;
  coset::team team;
  bool right = true;
  team.run([&](coset::member& me) {
    layer top(1000), middle(100'000), bottom(30'000);
    for (int step = 0; step < steps; ++step) train(me, top, middle, bottom, step);

    double distance = 0;
    float smallest = top.weights[0];
    long wrong = 0;
    for (layer const* const each : {&top, &middle, &bottom}) {
      for (std::size_t i = 0; i < each->weights.size(); ++i) {
        distance += 1 - static_cast<double>(each->weights[i]);
        smallest = std::min(smallest, each->weights[i]);
        wrong += std::abs(each->weights[i] - expected_weight(i, me.size(), steps)) > 1e-5f ? 1 : 0;
      }
    }
    coset::allreduce(me, coset::together(distance, wrong, coset::into(smallest, coset::minimum{})));
    if (me.rank() != 0) return;
    std::printf("%u ranks: mean change %g, smallest weight %g, %ld weights wrong\n", me.size(),
                distance / me.size() / 131'000, static_cast<double>(smallest), wrong);
    right = wrong == 0;
  });
  return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
