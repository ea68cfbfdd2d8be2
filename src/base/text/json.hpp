// SPDX-License-Identifier: Apache-2.0
// JSON by nlohmann's rules, which the library reads and writes in one place: the parser and the writer are most of what a
// file that uses either takes to compile.
#pragma once

#include <iosfwd>
#include <nlohmann/json.hpp>
#include <string>

namespace coset::text {

/// What the rest of the stream says. Throws nlohmann::json::parse_error, with line and column, if that is no JSON; where
/// that is not wanted, it is then a value of no kind.
nlohmann::json read_json(std::istream& in, bool may_throw = true);

/// On one line, or indented by so many spaces.
std::string json_text(nlohmann::json const& value, int indent = -1);

}  // namespace coset::text
