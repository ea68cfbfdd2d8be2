// SPDX-License-Identifier: Apache-2.0
// simulation_bench: how long allreduces take in simulated time, or by the model. simulate.py asks it.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <fstream>
#include <iostream>
#include <map>
#include <optional>
#include <set>
#include <sstream>

#include "command/shown/networks/network.hpp"
#include "simulated.hpp"

namespace coset::simulation {
namespace {

/// A line of the input: "BYTES ALGORITHM", or "BYTES" alone for the comparator. "ALGORITHM/8" goes in eight segments.
struct question {
  std::uint64_t bytes;
  std::string algorithm;
};

std::vector<question> read_questions(std::istream& from) {
  std::vector<question> all;
  for (std::string line; std::getline(from, line);) {
    std::istringstream words(line);
    question asked{};
    if (!(words >> asked.bytes)) throw argument_error(fmt::format("\"{}\" begins with no number of bytes", line));
    words >> asked.algorithm;
    all.push_back(asked);
  }
  return all;
}

std::vector<std::string> lines_of(std::string const& file) {
  std::ifstream from(file);
  if (!from) throw argument_error("cannot read " + file);
  std::vector<std::string> all;
  for (std::string line; std::getline(from, line);) all.push_back(line);
  return all;
}

messages messages_of(std::string const& name, rank_t ranks) {
  auto const slash = name.rfind('/');
  if (slash == std::string::npos || slash < name.rfind(')') + 1) return {schedule::algorithm::parse(name), ranks};
  std::size_t segments = 0;
  auto const digits = std::string_view(name).substr(slash + 1);
  auto const [end, failed] = std::from_chars(digits.data(), digits.data() + digits.size(), segments);
  if (failed != std::errc{} || end != digits.data() + digits.size() || segments > 4096)
    throw argument_error(fmt::format("\"{}\" ends with no number of segments up to 4096", name));
  return {schedule::algorithm::parse(std::string_view(name).substr(0, slash)), ranks, segments};
}

/// Made once for all sizes.
class known_messages {
 public:
  explicit known_messages(rank_t ranks) : ranks_(ranks) {}
  messages const& of(std::string const& name) {
    auto const at = made_.find(name);
    if (at != made_.end()) return at->second;
    return made_.emplace(name, messages_of(name, ranks_)).first->second;
  }

 private:
  rank_t ranks_;
  std::map<std::string, messages> made_;
};

void simulate_all(machine const& on, std::vector<question> const& asked) {
  known_messages known(static_cast<rank_t>(on.hosts.size()));
  std::vector<call> calls;
  for (question const& each : asked)
    calls.push_back({each.algorithm.empty() ? nullptr : &known.of(each.algorithm), each.bytes});
  simulate(on, calls);
  for (std::size_t i = 0; i < calls.size(); ++i)
    std::cout << fmt::format("{} {:.9e} {}\n", calls[i].bytes, calls[i].seconds, asked[i].algorithm);
}

/// Lines "BYTES SECONDS STEPS VOLUME MESSAGES ALGORITHM": what the busiest link carries, in vectors, and the most messages
/// that meet on a link; "- ALGORITHM: WHY" for one that is not defined here.
void price_all(schedule::network const& links, machine const& on, std::vector<question> const& asked) {
  struct priced {
    std::size_t steps;
    schedule::counts work;
  };
  schedule::rank_costs const costs{2 * on.message_overhead, on.combine_per_byte};
  std::map<std::string, std::optional<priced>> known;
  for (auto const& [bytes, name] : asked) {
    auto at = known.find(name);
    if (at == known.end()) {
      std::optional<priced> found;
      try {
        messages const sent = messages_of(name, links.ranks());
        found = priced{sent.steps(), sent.on(links, costs)};
      } catch (schedule_error const& why) {
        std::cout << fmt::format("- {}: {}\n", name, why.what());
      }
      at = known.emplace(name, std::move(found)).first;
    }
    if (!at->second) continue;
    auto const& busiest = at->second->work.busiest();
    std::cout << fmt::format("{} {:.9e} {} {:.6f} {} {}\n", bytes, at->second->work.seconds(static_cast<double>(bytes)),
                             at->second->steps, busiest.volume.value(), busiest.most_messages, name);
  }
}

/// Lines "estimated BYTES STEPS": [KZ] (37).
void print_estimates(std::vector<double> const& flat, machine const& on, rank_t ranks,
                     std::vector<question> const& asked) {
  auto const model = schedule::cost_model::flat(flat.front(), flat.back(), on.combine_per_byte);
  std::set<std::uint64_t> sizes;
  for (question const& each : asked) sizes.insert(each.bytes);
  for (std::uint64_t const bytes : sizes)
    std::cout << fmt::format("estimated {} {}\n", bytes,
                             schedule::saved_steps(model, ranks, static_cast<double>(bytes)));
}

int run(int argc, char** argv) {
  CLI::App app(
      "Seconds that allreduces take on simulated machines: reads lines \"BYTES ALGORITHM\", prints \"BYTES SECONDS "
      "ALGORITHM\"");
  machine on;
  std::string placement, network;
  std::vector<double> flat;
  app.add_option("--platform", on.platform, "SimGrid's XML");
  app.add_option("--placement", placement, "file with the host of each rank, a line each");
  app.add_option("--overhead", on.message_overhead, "seconds that a message costs its sender, and its receiver");
  app.add_option("--combine", on.combine_per_byte, "seconds to combine a byte");
  app.add_option("--comparator", on.comparator, "SimGrid's algorithm for lines without one");
  app.add_option("--set", on.settings, "settings of SimGrid's, like network/model:CM02");
  app.add_option("--model", network, "price on this network, as `coset cost --links` reads it, instead");
  app.add_option("--estimate", flat,
                 "with --model: seconds of a message, and of a byte, between any two ranks, for saved_steps")
      ->expected(2);
  CLI11_PARSE(app, argc, argv);
  auto const asked = read_questions(std::cin);
  if (!network.empty()) {
    auto const links = schedule::read_network(network, {}).links;
    price_all(links, on, asked);
    if (!flat.empty()) print_estimates(flat, on, links.ranks(), asked);
    return 0;
  }
  on.hosts = lines_of(placement);
  simulate_all(on, asked);
  return 0;
}

}  // namespace
}  // namespace coset::simulation

int main(int argc, char** argv) {
  try {
    return coset::simulation::run(argc, argv);
  } catch (std::exception const& e) {
    std::cerr << "simulation_bench: " << e.what() << '\n';
    return 2;
  }
}
