// SPDX-License-Identifier: Apache-2.0
// Widths come from what is in the columns.
#include "command/table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "command/bytes.hpp"

namespace coset::cli {
namespace {

using nlohmann::ordered_json;

bool cannot_be_had(ordered_json const& c) {
  return c.is_null() || (c.is_number_float() && !std::isfinite(c.get<double>()));
}

/// Null: it is not in the row.
ordered_json const* value_in(ordered_json const& row, std::string_view key) {
  auto const dot = key.find('.');
  auto const found = row.find(std::string(key.substr(0, dot)));
  if (found == row.end()) return nullptr;
  return dot == std::string_view::npos ? &*found : value_in(*found, key.substr(dot + 1));
}

std::string for_people(look const& shown, ordered_json const* value) {
  if (value == nullptr) return "";
  if (value->is_string()) return value->get<std::string>();
  if (cannot_be_had(*value)) return "-";
  if (value->is_boolean()) return value->get<bool>() ? "yes" : "no";
  if (shown.kind == look::bytes) return bytes_for_people(value->get<std::uint64_t>());
  if (shown.kind == look::time) return time_for_people(value->get<double>());
  if (!value->is_number_float()) return value->dump();
  double const number = value->get<double>() * shown.scale;
  int const digits = shown.digits != look::by_size ? shown.digits : number < 10 ? 3 : number < 1000 ? 1 : 0;
  return fmt::format("{:.{}f}", number, digits);
}

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines{""};
  for (char const c : text) c == '\n' ? static_cast<void>(lines.emplace_back()) : lines.back().push_back(c);
  return lines;
}

std::string csv_of(ordered_json const* value) {
  if (value == nullptr || cannot_be_had(*value)) return "";
  if (value->is_number_float()) return fmt::format("{}", value->get<double>());
  if (!value->is_string()) return value->dump();
  auto const& text = value->get_ref<std::string const&>();
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  std::string inside;
  for (char const c : text) inside += c == '"' ? "\"\"" : std::string(1, c);
  return '"' + inside + '"';
}

std::string html_of(std::string_view text) {
  std::string safe;
  for (char const c : text) safe += c == '<' ? "&lt;" : c == '&' ? "&amp;" : std::string(1, c);
  return safe;
}

}  // namespace

std::size_t columns_of(std::string_view text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

ordered_json if_positive(double number) { return number > 0 ? ordered_json(number) : ordered_json(); }

table& table::with(look shown, std::string const& name, std::string key) {
  column added{lines_of(name), std::move(key), shown, 0};
  if (*shown.unit != '\0') added.head.push_back(fmt::format("({})", shown.unit));
  for (auto const& line : added.head) added.width = std::max(added.width, columns_of(line));
  columns_.push_back(std::move(added));
  return *this;
}

table& table::with(look shown, std::vector<std::string> const& names) {
  for (std::string const& name : names) {
    auto const equals = name.find('=');
    with(shown, name.substr(0, equals), name.substr(equals == std::string::npos ? 0 : equals + 1));
  }
  return *this;
}

void table::add(row added) {
  make_room(added);
  rows_.push_back(std::move(added));
}

void table::make_room(row const& of) {
  for (column& c : columns_) c.width = std::max(c.width, columns_of(for_people(c.shown, value_in(of, c.key))));
}

table::columns table::all() const {
  columns which(columns_.size());
  std::iota(which.begin(), which.end(), std::size_t{0});
  return which;
}

/// A column in which nothing stands, such as that of a mark which no row has, takes no room.
template <typename Text>
std::string table::joined(std::string begin, columns const& which, Text const& text_of) const {
  std::string line = std::move(begin);
  bool is_first = true;
  for (std::size_t const at : which) {
    column const& c = columns_[at];
    if (c.width == 0) continue;
    if (!std::exchange(is_first, false)) line += "  ";
    auto const text = text_of(c);
    std::string const room(c.width - std::min(c.width, columns_of(text)), ' ');
    line += c.shown.kind == look::words ? text + room : room + text;
  }
  return line.substr(0, line.find_last_not_of(' ') + 1) + '\n';
}

/// Names end in one line, and units are in a line below, if there are any.
std::string table::heads_of(columns const& which) const {
  auto const names = [](column const& c) { return c.head.size() - (*c.shown.unit != '\0'); };
  auto const most = names(*std::ranges::max_element(columns_, {}, names));
  bool const has_units = std::ranges::any_of(columns_, [](column const& c) { return *c.shown.unit != '\0'; });
  std::string text;
  for (std::size_t l = 0; l < most + has_units; ++l)
    text += joined(comment_, which, [&](column const& c) {
      auto const at = l + names(c) - most;  // wraps around above the first line
      return at < c.head.size() ? c.head[at] : "";
    });
  return text;
}

std::string table::line_of(row const& of, columns const& which) const {
  return joined(std::string(comment_.size(), ' '), which,
                [&](column const& c) { return for_people(c.shown, value_in(of, c.key)); });
}

std::size_t table::within(char const* key, double most) const {
  auto const is_within = [&](row const& of) { return of.at(key).get<double>() <= most; };
  return static_cast<std::size_t>(std::ranges::count_if(rows_, is_within));
}

std::string table::within_in_words(char const* key, double most) const {
  return fmt::format("{} of {} cells within {}", within(key, most), rows_.size(), most);
}

std::string table::lines() const {
  std::string text;
  for (row const& each : rows_) text += line(each);
  return text;
}

std::string table::in_parts(std::size_t terminal, std::size_t repeated) const {
  std::string text;
  std::size_t end = repeated;
  do {
    columns which = all();
    which.resize(repeated);
    std::size_t taken = comment_.size();
    for (std::size_t c = 0; c < repeated; ++c) taken += columns_[c].width + 2;
    for (; end < columns_.size(); ++end) {
      taken += columns_[end].width + 2;
      if (which.size() > repeated && taken > terminal) break;
      which.push_back(end);
    }
    text += (text.empty() ? "" : "\n") + heads_of(which);
    for (row const& each : rows_) text += line_of(each, which);
  } while (end < columns_.size());
  return text;
}

std::string table::as_csv() const {
  std::string text;
  for (column const& c : columns_) text += (text.empty() ? "" : ",") + c.key;
  for (row const& each : rows_)
    for (char begin = '\n'; column const& c : columns_)
      text += std::exchange(begin, ',') + csv_of(value_in(each, c.key));
  return text + '\n';
}

ordered_json table::as_json() const {
  auto list = ordered_json::array();
  for (row const& each : rows_) {
    ordered_json& one = list.emplace_back(ordered_json::object());
    for (column const& c : columns_)
      if (auto const* const value = value_in(each, c.key)) one[c.key] = cannot_be_had(*value) ? row() : *value;
  }
  return list;
}

std::string table::as_html(std::string_view title) const {
  std::string text = fmt::format(
      "<!doctype html>\n<meta charset=\"utf-8\">\n<title>{0}</title>\n<style>td, th {{ padding: 0 .5em; text-align: "
      "right }} .words {{ text-align: left }}</style>\n<table>\n<caption>{0}</caption>\n<tr>",
      html_of(title));
  auto const add = [&](char const* tag, column const& c, std::string const& content) {
    text +=
        fmt::format("<{}{}>{}</{}>", tag, c.shown.kind == look::words ? " class=\"words\"" : "", html_of(content), tag);
  };
  for (column const& c : columns_) add("th", c, fmt::format("{}", fmt::join(c.head, " ")));
  for (row const& each : rows_) {
    text += "</tr>\n<tr>";
    for (column const& c : columns_) add("td", c, for_people(c.shown, value_in(each, c.key)));
  }
  return text + "</tr>\n</table>\n";
}

}  // namespace coset::cli
