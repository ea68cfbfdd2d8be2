// SPDX-License-Identifier: Apache-2.0
// The values of a JSON file, taken one by one: what is missing, of another kind or out of range is told with its line and
// its place, "line 12, rules[2].ranks: -1 is not a whole number up to 4294967295".
#pragma once

#include <concepts>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace coset::text {

/// The text of a file, and what it means.
struct json_document {
  std::string text;
  nlohmann::json all;

  /// Throws std::exception with line and column if it is no JSON.
  explicit json_document(std::string written);
};

/// A value of a document that outlives it. What it throws is a std::runtime_error.
class field {
 public:
  explicit field(json_document const& of) : of_(&of), value_(&of.all) {}

  bool has(char const* key) const { return value_->is_object() && value_->contains(key); }
  field operator[](char const* key) const;
  std::vector<field> elements() const;  ///< of a list

  std::string text() const;
  double number() const;
  bool truth() const;
  std::uint64_t whole(std::uint64_t most) const;  ///< from 0
  template <std::unsigned_integral Number>
  Number whole() const {
    return static_cast<Number>(whole(std::uint64_t{std::numeric_limits<Number>::max()}));
  }
  std::string shown() const;

  /// Ends the reading of the file: something is wrong with this value.
  [[noreturn]] void refuse(std::string_view reason) const;

 private:
  field(json_document const& of, nlohmann::json const& value) : of_(&of), value_(&value) {}

  json_document const* of_;
  nlohmann::json const* value_;
};

}  // namespace coset::text
