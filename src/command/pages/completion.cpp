// SPDX-License-Identifier: Apache-2.0
// Scripts that complete the command's words in three shells. Where a word may be anything, files are offered.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>

#include "command/pages/described.hpp"

namespace coset::cli {
namespace {

std::vector<std::string> with_dashes(described_option const& option) {
  std::vector<std::string> names;
  for (auto const& name : option.shorts) names.push_back("-" + name);
  for (auto const& name : option.longs) names.push_back("--" + name);
  return names;
}

/// The first sentence, or what comes before a semicolon: shells have a line for it.
std::string in_short(std::string const& meaning) {
  return meaning.substr(0, std::min({meaning.find(". "), meaning.find(';'), meaning.find('\n')}));
}

std::string escaped(std::string const& text, std::string_view specials) {
  std::string result;
  for (char const c : text) {
    if (specials.find(c) != std::string_view::npos) result += '\\';
    result += c;
  }
  return result;
}

/// Inside single quotes of a shell.
std::string quoted(std::string const& text) {
  std::string result = "'";
  for (char const c : text) result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return result + "'";
}

/// Words that stand alone: commands of its own, and choices of arguments without a name.
std::vector<std::string> words_of(described_command const& command) {
  auto words = command.commands;
  for (auto const& option : command.options)
    if (!option.name.empty()) words.insert(words.end(), option.choices.begin(), option.choices.end());
  return words;
}

std::vector<std::string> names_of(std::vector<described_command> const& commands) {
  std::vector<std::string> names;
  for (auto const& command : commands) names.push_back(command.name);
  return names;
}

std::string zsh_option(described_option const& option) {
  auto const meaning = escaped(in_short(option.meaning), "[]:\\");
  auto const value = option.value.empty()     ? ""
                     : option.choices.empty() ? fmt::format(":{}:_files", escaped(option.value, ":[]"))
                                              : fmt::format(":{}:({})", option.value, fmt::join(option.choices, " "));
  if (!option.name.empty()) return fmt::format(" \\\n        {}", quoted("*" + value));
  auto const names = with_dashes(option);
  std::string text;
  for (auto const& name : names)
    text += fmt::format(" \\\n        {}",
                        quoted(fmt::format("({}){}[{}]{}", fmt::join(names, " "), name, meaning, value)));
  return text;
}

}  // namespace

std::string bash_completion(std::vector<described_command> const& commands) {
  std::string values, options, words;
  for (auto const& command : commands) {
    std::vector<std::string> all;
    for (auto const& option : command.options) {
      auto const names = with_dashes(option);
      all.insert(all.end(), names.begin(), names.end());
      if (option.value.empty()) continue;
      for (auto const& name : names)
        values += fmt::format("      {}:{}:*) words='{}' ;;\n", command.name, name, fmt::join(option.choices, " "));
    }
    options += fmt::format("      {}:*:-*) words='{}' ;;\n", command.name, fmt::join(all, " "));
    if (auto const alone = words_of(command); !alone.empty())
      words += fmt::format("      {}:*) words='{}' ;;\n", command.name, fmt::join(alone, " "));
  }
  return fmt::format(R"(# bash completion for coset(1), made by `coset completion bash`.
_coset() {{
  local cur=${{COMP_WORDS[COMP_CWORD]}} words=
  if [[ $COMP_CWORD -eq 1 ]]; then
    words='{} --help --version'
  else
    case ${{COMP_WORDS[1]}}:${{COMP_WORDS[COMP_CWORD-1]}}:$cur in
{}{}{}    esac
  fi
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
}}
complete -o default -F _coset coset
)",
                     fmt::join(names_of(commands), " "), values, options, words);
}

std::string zsh_completion(std::vector<described_command> const& commands) {
  std::string lines, cases;
  for (auto const& command : commands) {
    lines +=
        fmt::format(" \\\n        {}", quoted(fmt::format("{}:{}", command.name, escaped(command.meaning, ":\\"))));
    cases += fmt::format("      {}) _arguments", command.name);
    for (auto const& option : command.options) cases += zsh_option(option);
    if (!command.commands.empty())
      cases += fmt::format(" \\\n        {}", quoted(fmt::format("1:command:({})", fmt::join(command.commands, " "))));
    cases += " ;;\n";
  }
  return fmt::format(R"(#compdef coset
# zsh completion for coset(1), made by `coset completion zsh`.
_coset() {{
  local state line
  _arguments -C '(- *)--help[Describe the command]' '(- *)--version[Print the version]' '1: :->command' '*:: :->rest'
  case $state in
    command)
      local -a commands=({})
      _describe command commands ;;
    rest) case $line[1] in
{}    esac ;;
  esac
}}
_coset "$@"
)",
                     lines, cases);
}

std::string fish_completion(std::vector<described_command> const& commands) {
  std::string text = "# fish completion for coset(1), made by `coset completion fish`.\n";
  for (auto const& command : commands) {
    text += fmt::format("complete -c coset -n __fish_use_subcommand -f -a {} -d {}\n", command.name,
                        quoted(in_short(command.meaning)));
    auto const after = fmt::format("complete -c coset -n '__fish_seen_subcommand_from {}'", command.name);
    for (auto const& word : words_of(command)) text += fmt::format("{} -a {}\n", after, word);
    for (auto const& option : command.options) {
      if (!option.name.empty()) continue;
      text += after;
      for (auto const& name : option.shorts) text += " -s " + name;
      for (auto const& name : option.longs) text += " -l " + name;
      if (!option.value.empty()) text += " -r";
      if (!option.choices.empty())
        text += fmt::format(" -f -a {}", quoted(fmt::format("{}", fmt::join(option.choices, " "))));
      text += fmt::format(" -d {}\n", quoted(in_short(option.meaning)));
    }
  }
  return text;
}

}  // namespace coset::cli
