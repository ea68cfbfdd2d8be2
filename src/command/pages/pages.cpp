// SPDX-License-Identifier: Apache-2.0
// `coset completion` and `coset manual`: what shells and man(1) are told of the command, by the command itself.
#include <algorithm>
#include <iostream>

#include "base/text/suggestion.hpp"
#include "command/commands.hpp"
#include "command/lab.hpp"
#include "command/pages/described.hpp"
#include "coset/error.hpp"

namespace coset::cli {

void add_completion(CLI::App& app) {
  auto const command = app.add_subcommand("completion", "Print a script that completes this command's words");
  auto const shell = std::make_shared<std::string>();
  command->add_option("shell", *shell, "The shell that reads it")->required()->check(one_of({"bash", "zsh", "fish"}));
  command->callback([&app, shell] {
    (void)prefer_lab();  // which has words of its own
    auto const write = *shell == "bash" ? bash_completion : *shell == "zsh" ? zsh_completion : fish_completion;
    std::cout << write(describe_subcommands(app));
  });
}

void add_manual(CLI::App& app) {
  auto const command = app.add_subcommand("manual", "Print the manual page of a command, for man -l");
  auto const wanted = std::make_shared<std::string>();
  command->add_option("command", *wanted, "The command that it describes")->required();
  command->callback([&app, wanted] {
    bool const is_of_lab = std::ranges::find(lab_commands, *wanted, &lab_command::name) != lab_commands.end();
    is_of_lab ? (void)need_lab("the manual page of " + *wanted) : (void)prefer_lab();
    auto const commands = describe_subcommands(app);
    auto const found = std::ranges::find(commands, *wanted, &described_command::name);
    std::vector<std::string> names;
    for (auto const& each : commands) names.push_back(each.name);
    if (found == commands.end())
      throw argument_error("there is no command " + *wanted + text::did_you_mean(*wanted, names));
    std::cout << manual_page(*found);
  });
}

}  // namespace coset::cli
