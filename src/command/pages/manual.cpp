// SPDX-License-Identifier: Apache-2.0
// A subcommand's manual page: its options, as --help describes them. coset(1), by hand, says what it is for.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <cctype>

#include "command/pages/described.hpp"
#include "coset/coset.h"

namespace coset::cli {
namespace {

/// As roff prints it: no dash becomes a hyphen, no line a request.
std::string plain(std::string const& text) {
  std::string result;
  for (char const c : text) {
    if (result.empty() || result.back() == '\n') {
      if (c == '.' || c == '\'') result += "\\&";
    }
    if (c == '\\') {
      result += "\\e";
    } else if (c == '-') {
      result += "\\-";
    } else {
      result += c;
    }
  }
  return result;
}

std::string names_of(described_option const& option) {
  std::vector<std::string> names;
  if (!option.name.empty()) names.push_back(fmt::format("\\fI{}\\fR", plain(option.name)));
  for (auto const& name : option.shorts) names.push_back(fmt::format("\\fB\\-{}\\fR", name));
  for (auto const& name : option.longs) names.push_back(fmt::format("\\fB\\-\\-{}\\fR", plain(name)));
  auto text = fmt::format("{}", fmt::join(names, ", "));
  if (!option.value.empty() && option.name.empty()) text += fmt::format(" \\fI{}\\fR", plain(option.value));
  return text;
}

std::string entry(described_option const& option) {
  auto text = fmt::format(".TP\n{}\n{}", names_of(option), plain(option.meaning));
  if (!option.choices.empty())
    text += fmt::format(".\nOne of {}", plain(fmt::format("{}", fmt::join(option.choices, ", "))));
  if (!option.given.empty()) text += fmt::format(".\nWithout it: {}", plain(option.given));
  return text + ".\n";
}

}  // namespace

std::string manual_page(described_command const& command) {
  auto title = command.name;
  std::ranges::transform(title, title.begin(), [](unsigned char c) { return std::toupper(c); });
  auto text = fmt::format(
      ".\\\" SPDX-License-Identifier: Apache-2.0\n.\\\" Made by `coset manual {}`.\n"
      ".TH COSET\\-{} 1 \"\" \"coset {}.{}.{}\"\n.SH NAME\ncoset\\-{} \\- {}\n"
      ".SH SYNOPSIS\n\\fBcoset {}\\fR [\\fIoptions\\fR]",
      command.name, title, COSET_VERSION_MAJOR, COSET_VERSION_MINOR, COSET_VERSION_PATCH, command.name,
      plain(command.meaning), command.name);
  for (auto const& inner : command.commands) text += fmt::format(" \\fB{}\\fR", plain(inner));
  for (auto const& option : command.options)
    if (!option.name.empty()) text += fmt::format(" \\fI{}\\fR", plain(option.name));
  text += "\n.SH OPTIONS\n";
  for (auto const& option : command.options) text += entry(option);
  if (!command.footer.empty()) text += fmt::format(".SH NOTES\n{}\n", plain(command.footer));
  return text + ".SH SEE ALSO\n.BR coset (1)\n";
}

}  // namespace coset::cli
