// SPDX-License-Identifier: Apache-2.0
// The options by which commands tell their table to programs: --json, --csv, --html.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>

#include "command/table.hpp"

namespace coset::cli {

struct formats {
  bool json = false, csv = false, html = false;

  /// One of them at most.
  void add_to(CLI::App& command, std::string const& as_csv = "As CSV, a line for each row of the table") {
    auto* const first = command.add_flag("--json", json, "As JSON");
    auto* const second = command.add_flag("--csv", csv, as_csv)->excludes(first);
    command.add_flag("--html", html, "As a page with the table")->excludes(first)->excludes(second);
  }

  bool is_text() const { return !json && !csv && !html; }
  /// The table alone.
  bool is_table() const { return csv || html; }
  std::string of(table const& told, std::string_view title) const { return html ? told.as_html(title) : told.as_csv(); }
};

}  // namespace coset::cli
