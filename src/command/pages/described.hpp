// SPDX-License-Identifier: Apache-2.0
// What completions and manual pages say of a command: its definitions, as CLI11 holds them, in plain words.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace coset::cli {

struct described_option {
  std::vector<std::string> shorts, longs;  ///< without dashes; both empty: an argument without a name
  std::string name;                        ///< of such an argument
  std::string value;                       ///< what it takes, like UINT; empty: nothing
  std::vector<std::string> choices;        ///< the words that it takes, if these are few
  std::string given;                       ///< the value it has without being there; may be empty
  std::string meaning;
};

struct described_command {
  std::string name, meaning, footer;
  std::vector<described_option> options;  ///< those of groups and of commands of its own, too
  std::vector<std::string> commands;      ///< of its own
};

described_command describe(CLI::App const& command);

/// The subcommands in the order of their definition.
std::vector<described_command> describe_subcommands(CLI::App const& app);

/// Words to complete with after bash, zsh and fish; each is a script as the shell reads it.
std::string bash_completion(std::vector<described_command> const& commands);
std::string zsh_completion(std::vector<described_command> const& commands);
std::string fish_completion(std::vector<described_command> const& commands);

/// A manual page, in the macros of man(7).
std::string manual_page(described_command const& command);

}  // namespace coset::cli
