// SPDX-License-Identifier: Apache-2.0
// `coset generate`: schedules as source code, and in the languages of other programs.
#include <iostream>

#include "command/inspect/schedule_options.hpp"
#include "command/lab.hpp"
#include "command/numbers.hpp"
#include "lab/commands.hpp"
#include "lab/foreign/foreign.hpp"
#include "lab/generate/generate_c.hpp"
#include "planning/schedule/core/validate.hpp"

namespace coset::cli {
namespace {

struct generate_command {
  schedule_options what;
  schedule::simulated_size size{1 << 20, 0};
  std::string name;

  /// Files are proved here, others are right by construction; but minima alone may count a rank twice.
  schedule::schedule made() const {
    auto found = what.make().plan;
    if (found.idempotent_only)
      throw schedule_error(what.algorithm + " counts contributions twice, for minimum and the like only");
    if (what.names_file()) (void)schedule::validate(found);
    return found;
  }
};

using printed = std::string (*)(generate_command const&);

std::shared_ptr<generate_command> add(CLI::App& to, char const* language, char const* meaning, printed print) {
  auto const state = std::make_shared<generate_command>();
  auto const command = to.add_subcommand(language, meaning);
  state->what.add_to(*command);
  command->callback([state, print] { std::cout << print(*state); });
  return state;
}

void add_size(CLI::App& to, generate_command& state, char const* combine) {
  auto const number = [](std::string const& text) {
    return seconds_in(text) ? std::string() : text + " is not a number from 0 to 1000000000";
  };
  to.add_option("-b,--bytes", state.size.bytes, "Size of the vector; K, M and G are powers of 1024")
      ->transform(byte_size())
      ->capture_default_str();
  to.add_option("--combine", state.size.combine_per_byte, combine)
      ->check(number, "NUMBER", "number")
      ->capture_default_str();
}

void add_tree_ring(CLI::App& to) {
  auto const tree_ring = to.add_subcommand("tree_ring",
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

}  // namespace

void add_generate(CLI::App& app) {
  auto const command = add_lab_command(app, "generate");
  command->require_subcommand(1);
  auto const mpi = add(*command, "mpi", "A C routine over MPI that needs nothing else, for any algorithm or plan",
                       [](generate_command const& of) { return schedule::mpi_routine(of.made(), of.name); });
  command->get_subcommand("mpi")->add_option("--name", mpi->name,
                                             "Its name; algorithm and collective if none is given");
  auto const goal = add(*command, "goal", "A program for LogGOPSim, in GOAL",
                        [](generate_command const& of) { return schedule::goal(of.made(), of.size); });
  add_size(*command->get_subcommand("goal"), *goal, "Nanoseconds to combine a byte");
  auto const replay = add(*command, "replay", "A time-independent trace for SimGrid's smpirun -replay",
                          [](generate_command const& of) { return schedule::replay_trace(of.made(), of.size); });
  add_size(*command->get_subcommand("replay"), *replay, "Flops to combine a byte");
  add(*command, "msccl", "An algorithm for MSCCL, in XML: allreduce, reduce_scatter or allgather",
      [](generate_command const& of) { return schedule::msccl_xml(of.made()); });
  add_tree_ring(*command);
}

}  // namespace coset::cli
