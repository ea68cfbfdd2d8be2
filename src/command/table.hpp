// SPDX-License-Identifier: Apache-2.0
// The one table of the command: rows are JSON objects, columns show some of their values: to people as text or HTML, to programs
// as CSV or JSON.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace coset::cli {

/// How people see a value. Programs get it as it is.
struct look {
  enum : std::uint8_t {
    words,    ///< begin at the left; all others end at the right
    numbers,  ///< whole ones, and texts such as fractions, as they are
    bytes,    ///< "64 KiB"
    time      ///< of ns: "12.3 µs"
  } kind = numbers;
  char const* unit = "";  ///< below the name
  int digits = by_size;
  double scale = 1;

  /// Three digits after the point below 10, one below 1000.
  static constexpr int by_size = -1;
};
namespace as {
inline constexpr look words{look::words}, numbers{}, bytes{look::bytes}, time{look::time}, ratio{.digits = 2},
    us{.unit = "us", .digits = 3, .scale = 1e6};
}

class table {
 public:
  using row = nlohmann::ordered_json;

  /// `comment` begins the lines of the heads, other lines have as much room there.
  explicit table(std::string comment = "") : comment_(std::move(comment)) {}

  /// Further columns: "total" for the value "total", "us=seconds" for "seconds", "core=lines.core" for one inside of another;
  /// '\n' is between the lines of a head of several.
  table& with(look, std::vector<std::string> const& names);
  /// One whose name is anything.
  table& with(look, std::string const& name, std::string key);

  /// Null, and a number that is not finite, is one that cannot be had: "-" for people. Nothing is told of a value that is not in
  /// the row.
  void add(row);
  /// Columns become as wide as this row needs: of tables whose rows are told as they are found.
  void make_room(row const&);
  std::vector<row> const& rows() const { return rows_; }
  /// In how many rows this number is no more than `most`; "110 of 126 cells within 1.05".
  std::size_t within(char const* key, double most) const;
  std::string within_in_words(char const* key, double most) const;

  std::string as_text() const { return heads() + lines(); }
  /// As many parts as fit so many columns of a terminal, each with the first `repeated` columns of the table.
  std::string in_parts(std::size_t terminal, std::size_t repeated) const;
  std::string heads() const { return heads_of(all()); }
  std::string line(row const& of) const { return line_of(of, all()); }
  std::string lines() const;  ///< of all rows

  std::string as_csv() const;
  nlohmann::ordered_json as_json() const;             ///< an object for each row
  std::string as_html(std::string_view title) const;  ///< a page

 private:
  struct column;
  using columns = std::vector<std::size_t>;
  columns all() const;
  std::string heads_of(columns const&) const;
  std::string line_of(row const&, columns const&) const;
  template <typename Text>
  std::string joined(std::string begin, columns const&, Text const& text_of) const;

  struct column {
    std::vector<std::string> head;  ///< its lines
    std::string key;
    look shown;
    std::size_t width;
  };
  std::vector<column> columns_;
  std::vector<row> rows_;
  std::string comment_;
};

/// How many columns of a terminal a text takes: its characters, not its bytes.
std::size_t columns_of(std::string_view);

/// A number that is only there if it is above zero.
nlohmann::ordered_json if_positive(double);

}  // namespace coset::cli
