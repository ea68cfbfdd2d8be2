// SPDX-License-Identifier: Apache-2.0
// The `coset` command: its subcommands, and the exit statuses of their failures.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <new>

#include "base/text/suggestion.hpp"
#include "command/commands.hpp"
#include "command/lab.hpp"
#include "command/output.hpp"
#include "coset/error.hpp"

namespace {

constexpr int failed = 1, bad_input = 2;

/// Describes a word in the place of a command that is none; CLI11 only says that a command is missing.
std::string unknown_command(CLI::App const& app) {
  for (CLI::App const* chosen : app.get_subcommands()) return unknown_command(*chosen);
  auto const words = app.remaining();
  if (app.get_require_subcommand_min() == 0 || words.empty()) return "";
  std::vector<std::string> names;
  for (CLI::App const* command : app.get_subcommands({})) names.push_back(command->get_name());
  return fmt::format("{} has no command '{}'; it has {}{}", app.get_name(), words.front(), fmt::join(names, ", "),
                     coset::text::did_you_mean(words.front(), names));
}

/// Of arguments that nothing takes: an option that is not there, or one word too many.
std::string unknown_argument(CLI::App const& app) {
  for (CLI::App const* chosen : app.get_subcommands()) return unknown_argument(*chosen);
  std::vector<std::string> options;
  for (CLI::Option const* option : app.get_options())
    for (auto const& name : option->get_lnames()) options.push_back("--" + name);
  auto const words = app.remaining(true);
  auto const wrong = std::ranges::find_if(words, [](auto const& word) { return word.starts_with('-'); });
  if (wrong == words.end()) return fmt::format("{} takes no '{}'", app.get_name(), fmt::join(words, " "));
  auto const name = wrong->substr(0, wrong->find('='));
  return fmt::format("{} has no option {}{}", app.get_name(), name, coset::text::did_you_mean(name, options));
}

int run(CLI::App& app, int argc, char** argv) {
  try {
    app.parse(argc, argv);
    return 0;
  } catch (CLI::RuntimeError const& failure) {
    return failure.get_exit_code();
  } catch (CLI::RequiredError const& failure) {
    auto const unknown = unknown_command(app);
    if (unknown.empty()) return app.exit(failure), bad_input;
    std::cerr << unknown << '\n';
    return bad_input;
  } catch (CLI::ExtrasError const&) {
    std::cerr << "coset: " << unknown_argument(app) << '\n';
    return bad_input;
  } catch (CLI::ParseError const& failure) {
    return app.exit(failure) == 0 ? 0 : bad_input;
  } catch (coset::error const& failure) {
    std::cerr << "coset: " << failure.what() << '\n';
    return bad_input;
  } catch (std::bad_alloc const&) {  // a million ranks are soon asked for
    std::cerr << "coset: this needs more memory than there is\n";
    return failed;
  } catch (std::exception const& failure) {
    std::cerr << "coset: " << failure.what() << '\n';
    return failed;
  }
}

}  // namespace

int main(int argc, char** argv) {
  coset::cli::prepare_standard_output();
  setenv("COSET_IDLE", "0", 0);  // where a team's lines lie counts: each that is measured gets its own
  CLI::App app("Reductions for threads that share memory: show schedules, measure them, choose one.", "coset");
  app.require_subcommand(1);
  app.set_version_flag("--version",
                       fmt::format("coset {}.{}.{}", COSET_VERSION_MAJOR, COSET_VERSION_MINOR, COSET_VERSION_PATCH));
  for (auto const add :
       {coset::cli::add_info, coset::cli::add_list, coset::cli::add_plan, coset::cli::add_why, coset::cli::add_bench,
        coset::cli::add_tune, coset::cli::add_trace, coset::cli::add_completion, coset::cli::add_manual}) {
    add(app);
  }
  coset::cli::lab != nullptr ? coset::cli::lab->add_commands(app) : coset::cli::pass_on_lab_commands(app);

  int const status = run(app, argc, argv);
  if (status == 0) coset::cli::tell_old_form();
  if (!coset::cli::standard_output_lost()) return status;
  std::cerr << "coset: standard output could not be written completely\n";
  return status == 0 ? failed : status;
}
