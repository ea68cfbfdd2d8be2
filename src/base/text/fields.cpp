// SPDX-License-Identifier: Apache-2.0
#include "base/text/fields.hpp"

#include <algorithm>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "base/text/format.hpp"
#include "base/text/json.hpp"

namespace coset::text {
namespace {

using nlohmann::json;

/// What is inside `place`: "rules", "rules[2]", "rules[2].ranks".
std::string inside(std::string const& place, std::string_view key) {
  return place.empty() ? std::string(key) : format("{}.{}", place, key);
}
std::string inside(std::string const& place, std::size_t index) { return format("{}[{}]", place, index); }

/// Lists and objects can be nested as deep as their text is long: what lies deeper is nobody's field.
constexpr int deepest = 32;

/// Looks for a value by its address. True if it is there; then `place` is its place.
bool find(json const& wanted, json const& in, std::string& place, int depth = 0) {
  if (&in == &wanted) return true;
  if (!in.is_structured() || depth == deepest) return false;
  std::string const outer = place;
  std::size_t index = 0;
  for (auto at = in.begin(); at != in.end(); ++at, ++index) {
    place = in.is_object() ? inside(outer, at.key()) : inside(outer, index);
    if (find(wanted, *at, place, depth + 1)) return true;
  }
  return false;
}

/// Goes through a text that has been parsed, so that it is JSON, to find the line of a place.
class line_finder {
 public:
  line_finder(std::string const& text, std::string wanted) : text_(text), wanted_(std::move(wanted)) {}

  /// 0 if there is none, as its key is written with escapes.
  std::size_t line() && {
    value("");
    return found_;
  }

 private:
  void skip_blanks() {
    for (; at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\r' || text_[at_] == '\n');
         ++at_)
      line_ += text_[at_] == '\n';
  }

  std::string_view string() {
    std::size_t const begin = ++at_;
    for (; text_[at_] != '"'; ++at_) at_ += text_[at_] == '\\';
    return std::string_view(text_).substr(begin, at_++ - begin);
  }

  void value(std::string const& place) {
    skip_blanks();
    if (place == wanted_) found_ = line_;  // of two with the same key, the last one counts
    char const first = text_[at_];
    if (first == '{' || first == '[') return depth_ == deepest ? skip_structure() : members(place, first == '{');
    if (first == '"') return static_cast<void>(string());
    at_ = std::min(text_.find_first_of(",]} \t\r\n", at_), text_.size());
  }

  void skip_structure() {
    std::size_t open = 0;
    do {
      skip_blanks();
      char const next = text_[at_];
      if (next == '"') {
        static_cast<void>(string());
        continue;
      }
      open += next == '{' || next == '[';
      open -= next == '}' || next == ']';
      ++at_;
    } while (open > 0);
  }

  void members(std::string const& place, bool have_keys) {
    ++depth_;
    ++at_;
    for (std::size_t index = 0;; ++index) {
      skip_blanks();
      if (text_[at_] == ']' || text_[at_] == '}') break;
      std::string const member = have_keys ? inside(place, string()) : inside(place, index);
      skip_blanks();
      at_ += have_keys;  // the colon
      value(member);
      skip_blanks();
      at_ += text_[at_] == ',';
    }
    ++at_;
    --depth_;
  }

  std::string const& text_;
  std::string wanted_;
  std::size_t at_ = 0, line_ = 1, found_ = 0;
  int depth_ = 0;
};

}  // namespace

// From a stream, as plans are read: another kind of input would be another parser in the library, of 10 KB.
json_document::json_document(std::string written) : text(std::move(written)) {
  std::istringstream in(text);
  all = read_json(in);
}

std::string field::shown() const { return value_->is_structured() ? value_->type_name() : json_text(*value_); }

void field::refuse(std::string_view reason) const {
  std::string place;
  find(*value_, of_->all, place);
  std::size_t const line = line_finder(of_->text, place).line();
  throw std::runtime_error(
      format("{}{}: {}", line == 0 ? "" : format("line {}, ", line), place.empty() ? "the whole" : place, reason));
}

field field::operator[](char const* key) const {
  if (!value_->is_object()) refuse(format("{} is not an object with {}", shown(), key));
  auto const found = value_->find(key);
  if (found == value_->end()) refuse(format("{} is missing", key));
  return {*of_, *found};
}

std::vector<field> field::elements() const {
  if (!value_->is_array()) refuse(format("{} is not a list", shown()));
  std::vector<field> all;
  for (json const& each : *value_) all.push_back(field(*of_, each));
  return all;
}

std::string field::text() const {
  if (!value_->is_string()) refuse(format("{} is not a text", shown()));
  return value_->get<std::string>();
}

double field::number() const {
  if (!value_->is_number()) refuse(format("{} is not a number", shown()));
  return value_->get<double>();
}

bool field::truth() const {
  if (!value_->is_boolean()) refuse(format("{} is neither true nor false", shown()));
  return value_->get<bool>();
}

/// get() alone would accept −1 and 1.5, and numbers that do not fit.
std::uint64_t field::whole(std::uint64_t most) const {
  if (!value_->is_number_unsigned() || value_->get<std::uint64_t>() > most)
    refuse(format("{} is not a whole number up to {}", shown(), most));
  return value_->get<std::uint64_t>();
}

}  // namespace coset::text
