// SPDX-License-Identifier: Apache-2.0
// `coset generate`: schedules as source code.
#include <iostream>

#include "cli/commands.hpp"
#include "study/generate_c.hpp"

namespace coset::cli {

void add_generate(CLI::App& app) {
  auto const command = app.add_subcommand("generate", "Print a schedule as source code");
  command->require_subcommand(1);
  auto const tree_ring =
      command->add_subcommand("tree_ring",
                              "A C routine over MPI that needs nothing else: allreduce along the ring "
                              "that meets every edge of a tree once in each direction");
  auto const file = std::make_shared<std::string>();
  tree_ring
      ->add_option(
          "--tree", *file,
          "JSON, {\"tree\": {\"top\": [\"left\", 2], \"left\": [0, 1]}}: each node's children, numbers are ranks")
      ->required();
  tree_ring->callback([file] { std::cout << schedule::tree_ring_routine(schedule::read_tree(*file)); });
}

}  // namespace coset::cli
