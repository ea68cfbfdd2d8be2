// SPDX-License-Identifier: Apache-2.0
// Calls the network as LightGBM does while it grows a tree: sums of leaves, histograms by blocks of features, the best
// split of all. Gradients are whole numbers, so that every machine has to get what a serial program would.
#include "trees.hpp"

#include <algorithm>
#include <cstring>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using over_coset::comm_size_t;
using bytes = std::vector<char>;

// What LightGBM does with the two functions: an allreduce of little gathers, one of much scatters and gathers.
using reduce_scatter_function = void (*)(char*, comm_size_t, int, comm_size_t const*, comm_size_t const*, int, char*,
                                         comm_size_t, over_coset::ReduceFunction const&);
using allgather_function = void (*)(char*, comm_size_t, comm_size_t const*, comm_size_t const*, int, char*,
                                    comm_size_t);
struct network {
  int machines, rank;
  reduce_scatter_function reduce_scatter;
  allgather_function allgather;

  void allreduce(char* input, comm_size_t size, int type_size, char* output,
                 over_coset::ReduceFunction const& reducer) const {
    std::vector<comm_size_t> start(static_cast<std::size_t>(machines)), length(start);
    comm_size_t const count = size / type_size;
    if (count < machines || size < 4096) {
      for (int m = 0; m < machines; ++m) start[at(m)] = m * size;
      std::fill(length.begin(), length.end(), size);
      bytes all(static_cast<std::size_t>(size * machines));
      allgather(input, size, start.data(), length.data(), machines, all.data(), size * machines);
      for (int m = 1; m < machines; ++m) reducer(all.data() + start[at(m)], all.data(), type_size, size);
      std::memcpy(output, all.data(), static_cast<std::size_t>(size));
      return;
    }
    comm_size_t const step = (count + machines - 1) / machines * type_size;
    for (int m = 0; m < machines; ++m) {
      start[at(m)] = std::min(m * step, size);
      length[at(m)] = std::min(step, size - start[at(m)]);
    }
    reduce_scatter(input, size, type_size, start.data(), length.data(), machines, output, size, reducer);
    allgather(output, length[at(rank)], start.data(), length.data(), machines, output, size);
  }
  static std::size_t at(int machine) { return static_cast<std::size_t>(machine); }
};

void add_doubles(char const* input, char* output, int type_size, comm_size_t size) {
  for (comm_size_t done = 0; done < size; done += type_size) {
    double a, b;
    std::memcpy(&a, input + done, sizeof a);
    std::memcpy(&b, output + done, sizeof b);
    b += a;
    std::memcpy(output + done, &b, sizeof b);
  }
}

/// A split as it travels: gain, feature, and thresholds up to the element's size. Sizes are odd in LightGBM as well.
struct split {
  double gain;
  std::int32_t feature;
};
split split_at(char const* from) {
  split s;
  std::memcpy(&s.gain, from, sizeof s.gain);
  std::memcpy(&s.feature, from + sizeof s.gain, sizeof s.feature);
  return s;
}
void put(split const& s, char* to) {
  std::memcpy(to, &s.gain, sizeof s.gain);
  std::memcpy(to + sizeof s.gain, &s.feature, sizeof s.feature);
}

void keep_better(char const* input, char* output, int type_size, comm_size_t size) {
  for (comm_size_t done = 0; done < size; done += type_size) {
    split const a = split_at(input + done), b = split_at(output + done);
    if (a.gain > b.gain || (a.gain == b.gain && a.feature < b.feature))
      std::memcpy(output + done, input + done, static_cast<std::size_t>(type_size));
  }
}

void require(bool holds, char const* what) {
  if (!holds) throw std::runtime_error(std::string("WRONG: ") + what);
}

/// Histograms of gradient and hessian for all features, each feature's to be summed by one machine.
void check_histograms(network const& net, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<comm_size_t> start, length;
  comm_size_t size = 0;
  for (int m = 0; m < net.machines; ++m) {
    comm_size_t const bins = random() % 3 == 0 ? 0 : static_cast<comm_size_t>(random() % 2000);
    start.push_back(size);
    length.push_back(bins * 2 * static_cast<comm_size_t>(sizeof(double)));
    size += length.back();
  }
  auto const gradient = [](int machine, std::size_t bin) {
    return static_cast<double>((bin * 7 + 13) % 101) * (machine + 1);
  };
  std::vector<double> mine(static_cast<std::size_t>(size) / sizeof(double));
  for (std::size_t b = 0; b < mine.size(); ++b) mine[b] = gradient(net.rank, b);
  std::size_t const block = network::at(net.rank);
  std::vector<double> sums(static_cast<std::size_t>(length[block]) / sizeof(double) + 5, -1.0);
  net.reduce_scatter(reinterpret_cast<char*>(mine.data()), size, sizeof(double), start.data(), length.data(),
                     net.machines, reinterpret_cast<char*>(sums.data()),
                     static_cast<comm_size_t>(sums.size() * sizeof(double)), add_doubles);
  for (std::size_t i = 0; i + 5 < sums.size(); ++i) {
    double const factor = net.machines * (net.machines + 1) / 2.0;
    require(sums[i] == factor * gradient(0, static_cast<std::size_t>(start[block]) / sizeof(double) + i),
            "a histogram");
  }
  require(sums.back() == -1, "what lies after a histogram");
}

/// The best of all machines' splits, for several leaves; in LightGBM's manner in one buffer.
void check_splits(network const& net, int type_size, int leaves) {
  auto const gain = [&](int machine, int leaf) { return static_cast<double>((machine * 5 + leaf * 3) % 7); };
  bytes buffer(static_cast<std::size_t>(leaves * type_size));
  for (int leaf = 0; leaf < leaves; ++leaf) {
    char* const at = buffer.data() + leaf * type_size;
    std::memset(at, net.rank + 1, static_cast<std::size_t>(type_size));
    put({gain(net.rank, leaf), 100 * leaf + net.rank}, at);
  }
  net.allreduce(buffer.data(), leaves * type_size, type_size, buffer.data(), keep_better);
  for (int leaf = 0; leaf < leaves; ++leaf) {
    int best = 0;
    for (int m = 1; m < net.machines; ++m) best = gain(m, leaf) > gain(best, leaf) ? m : best;
    split const got = split_at(buffer.data() + leaf * type_size);
    require(got.gain == gain(best, leaf) && got.feature == 100 * leaf + best, "a split");
    require(type_size == 12 || buffer[static_cast<std::size_t>((leaf + 1) * type_size - 1)] == best + 1,
            "the end of a split");
  }
}

}  // namespace

void grow_trees(over_coset::machine const& here, unsigned trees) {
  network const net{here.size(), here.rank(), over_coset::reduce_scatter, over_coset::allgather};
  for (unsigned tree = 0; tree < trees; ++tree) {
    double leaf[3] = {1, 2.0 * net.rank, -1};
    net.allreduce(reinterpret_cast<char*>(leaf), sizeof leaf, sizeof(double), reinterpret_cast<char*>(leaf),
                  add_doubles);
    require(leaf[0] == net.machines && leaf[1] == net.machines * (net.machines - 1), "the sums of a leaf");
    check_histograms(net, tree);
    for (int type_size : {12, 13, 24, 77, 333}) {
      for (int leaves : {1, 2, 400}) check_splits(net, type_size, leaves);
    }
  }
}

void call_wrongly(over_coset::machine const& here) {
  std::vector<comm_size_t> start, length(network::at(here.size()), 8);
  for (int m = 0; m < here.size(); ++m) start.push_back(8 * m);
  int const last = here.size() - 1;
  if (here.rank() == last) length.back() = 7;
  bytes input(8 * length.size()), output(input);
  try {
    over_coset::reduce_scatter(input.data(), 8 * here.size(), 8, start.data(), length.data(), here.size(),
                               output.data(), 8 * here.size(), add_doubles);
  } catch (std::runtime_error const& e) {
    auto const block = "block " + std::to_string(last) + " has 7 bytes of elements of 8";
    require(std::string(e.what()).find(block) != std::string::npos, e.what());
    return;
  }
  require(false, "no error for blocks that do not fit");
}
