// SPDX-License-Identifier: Apache-2.0
// From options to a schedule.
#include "cli/schedule_options.hpp"

#include <fmt/format.h>

#include "schedule/required.hpp"

namespace coset::cli {

void schedule_options::add_to(CLI::App& command) {
  command
      .add_option("algorithm", algorithm,
                  "Name and parameters, like ring or \"generalized(radix=4,saved_steps=1)\"; `coset list` has all")
      ->required();
  command.add_option("-r,--ranks", ranks, "How many ranks take part")->required();
  command.add_option("-c,--collective", collective, "What they compute: allreduce, reduce, reduce_scatter, …")
      ->capture_default_str();
  command.add_option("--root", root, "The root of reduce and broadcast")->capture_default_str();
  command.add_option("--radix", radix, "Shorthand for the parameter radix=K");
  command.add_option("--saved-steps", saved_steps, "Shorthand for saved_steps=R");
  command.add_option("--group", group, "Shorthand for dims=4x3");
  command.add_option("--nodes", nodes, "Shorthand for nodes=5+2+4: ranks of each node, 5,2,4")->delimiter(',');
  command.add_option("--tree", tree, "Shorthand for tree=FILE: {\"tree\": {\"top\": [\"left\", 2], \"left\": [0, 1]}}");
}

schedule::schedule schedule_options::make() const {
  auto named = schedule::algorithm::parse(algorithm);
  auto const set = [&](std::string const& key, std::string const& value) {
    if (!value.empty() && !named.parameters.emplace(key, value).second)
      throw schedule_error(
          fmt::format("{} is given twice: as {} in the algorithm and as an option", key, named.parameters[key]));
  };
  set("radix", radix);
  set("saved_steps", saved_steps);
  set("dims", group);
  set("nodes", fmt::format("{}", fmt::join(nodes, "+")));
  set("tree", tree);
  return schedule::make(named, ranks, schedule::collective_of(collective), root);
}

}  // namespace coset::cli
