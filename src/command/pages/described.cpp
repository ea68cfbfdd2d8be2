// SPDX-License-Identifier: Apache-2.0
#include "command/pages/described.hpp"

namespace coset::cli {
namespace {

/// The words of a type like TEXT:{compact,scatter}; none of others.
std::vector<std::string> choices_of(std::string const& type) {
  auto const begin = type.find(":{");
  if (begin == std::string::npos || type.back() != '}') return {};
  return CLI::detail::split(type.substr(begin + 2, type.size() - begin - 3), ',');
}

described_option describe(CLI::Option const& option) {
  auto const type = option.get_type_name();
  described_option described{.shorts = option.get_snames(),
                             .longs = option.get_lnames(),
                             .name = {},
                             .value = {},
                             .choices = choices_of(type),
                             .given = option.get_default_str(),
                             .meaning = option.get_description()};
  if (option.get_items_expected_max() > 0) described.value = type.substr(0, type.find(":{"));
  if (option.get_positional()) described.name = option.get_name(true);
  return described;
}

void add(described_command& all, CLI::App const& part) {
  for (auto const* const option : part.get_options()) all.options.push_back(describe(*option));
  for (auto const* const inner : part.get_subcommands({})) {
    if (!inner->get_name().empty()) all.commands.push_back(inner->get_name());
    add(all, *inner);
  }
}

}  // namespace

described_command describe(CLI::App const& command) {
  described_command described{command.get_name(), command.get_description(), command.get_footer(), {}, {}};
  add(described, command);
  // Each command of its own has a help of its own.
  bool helped = false;
  std::erase_if(described.options, [&helped](described_option const& option) {
    bool const help = option.longs == std::vector<std::string>{"help"};
    return help && std::exchange(helped, true);
  });
  return described;
}

std::vector<described_command> describe_subcommands(CLI::App const& app) {
  std::vector<described_command> commands;
  for (auto const* const command : app.get_subcommands([](CLI::App const* each) { return !each->get_name().empty(); }))
    commands.push_back(describe(*command));
  return commands;
}

}  // namespace coset::cli
