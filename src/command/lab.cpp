// SPDX-License-Identifier: Apache-2.0
#include "command/lab.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <system_error>

#include "command/restart.hpp"
#include "coset/error.hpp"

namespace coset::cli {
namespace {

namespace fs = std::filesystem;

constexpr char program_name[] = "coset-lab";

/// Whether this program was started in the place of coset-lab, which it is not: a copy of `coset` under that name.
bool was_started_as_lab() { return own_arguments().starts_with(std::string(program_name) + '\0'); }

/// Beside this program, as in a build, or where an installation has it; empty if it is in neither place.
std::string installed_lab() {
  std::error_code nowhere;
  fs::path const here = fs::read_symlink("/proc/self/exe", nowhere).parent_path();
  if (nowhere || was_started_as_lab()) return {};
  for (fs::path const& program : {here / program_name, here / COSET_LAB_FROM_HERE / program_name})
    if (std::error_code ignored; fs::is_regular_file(program, ignored) && access(program.c_str(), X_OK) == 0)
      return program.string();
  return {};
}

}  // namespace

CLI::App* add_lab_command(CLI::App& app, std::string_view name) {
  auto const found = std::ranges::find(lab_commands, name, &lab_command::name);
  return app.add_subcommand(found->name, found->summary);
}

void pass_on_lab_commands(CLI::App& app) {
  for (lab_command const& each : lab_commands) {
    auto* const command = add_lab_command(app, each.name);
    command->set_help_flag();
    command->prefix_command();
    command->callback([&each] { (void)need_lab(fmt::format("coset {}", each.name)); });
  }
}

laboratory const* prefer_lab() {
  if (lab != nullptr) return lab;
  if (auto const program = installed_lab(); !program.empty()) start_instead(program, program_name);
  return nullptr;
}

laboratory const& need_lab(std::string_view what) {
  if (auto const* const found = prefer_lab()) return *found;
  throw error(fmt::format(
      "{} is in the package coset-lab, which is not installed here; a build with -DCOSET_LAB=ON makes it", what));
}

}  // namespace coset::cli
