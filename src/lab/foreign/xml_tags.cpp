// SPDX-License-Identifier: Apache-2.0
#include "lab/foreign/xml_tags.hpp"

#include <algorithm>
#include <charconv>

#include "base/text/format.hpp"
#include "coset/error.hpp"

namespace coset::schedule {
namespace {

class scanner {
 public:
  explicit scanner(std::string_view text) : left_(text), whole_(text) {}

  xml_element document() {
    skip_between();
    xml_element const found = element(1);
    skip_between();
    if (!left_.empty()) fail("there is more than one element");
    return found;
  }

 private:
  static constexpr int deepest = 8;

  [[noreturn]] void fail(std::string const& what) const {
    auto const read = whole_.substr(0, whole_.size() - left_.size());
    throw schedule_error(text::format("line {}: {}", 1 + std::ranges::count(read, '\n'), what));
  }

  static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
  static bool is_of_name(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
           c == '.' || c == ':';
  }

  void skip_spaces() {
    while (!left_.empty() && is_space(left_.front())) left_.remove_prefix(1);
  }

  bool take(std::string_view expected) {
    if (!left_.starts_with(expected)) return false;
    left_.remove_prefix(expected.size());
    return true;
  }

  void need(std::string_view expected) {
    if (!take(expected)) fail(text::format("'{}' is missing", expected));
  }

  void skip_past(std::string_view end) {
    auto const at = left_.find(end);
    if (at == std::string_view::npos) fail(text::format("'{}' is missing", end));
    left_.remove_prefix(at + end.size());
  }

  void skip_between() {
    for (;;) {
      skip_spaces();
      if (take("<!--"))
        skip_past("-->");
      else if (take("<?"))
        skip_past("?>");
      else
        return;
    }
  }

  std::string name() {
    auto const end = static_cast<std::size_t>(std::ranges::find_if_not(left_, is_of_name) - left_.begin());
    if (end == 0) fail("a name is missing");
    std::string const found(left_.substr(0, end));
    left_.remove_prefix(end);
    return found;
  }

  void attribute(xml_element& of) {
    std::string const key = name();
    skip_spaces();
    need("=");
    skip_spaces();
    char const quote = take("\"") ? '"' : '\'';
    if (quote == '\'') need("'");
    auto const end = left_.find(quote);
    if (end == std::string_view::npos) fail("a quotation mark is missing");
    std::string_view const value = left_.substr(0, end);
    if (value.find_first_of("<&") != std::string_view::npos) fail("entities are not read");
    left_.remove_prefix(end + 1);
    if (!of.attributes.emplace(key, value).second) fail(text::format("{} is given twice", key));
  }

  xml_element element(int depth) {
    if (depth > deepest) fail("elements are nested too deeply");
    need("<");
    xml_element made{name(), {}};
    for (;;) {
      skip_spaces();
      if (take("/>")) return made;
      if (take(">")) break;
      attribute(made);
    }
    for (;;) {
      skip_between();
      if (take("</")) break;
      made.children.push_back(element(depth + 1));
    }
    need(made.name);
    skip_spaces();
    need(">");
    return made;
  }

  std::string_view left_, whole_;
};

}  // namespace

std::string const& xml_element::text(std::string const& attribute) const {
  auto const found = attributes.find(attribute);
  if (found == attributes.end()) throw schedule_error(text::format("<{}> has no {}", name, attribute));
  return found->second;
}

std::int64_t xml_element::number(std::string const& attribute, std::int64_t end, bool or_none) const {
  std::string const& written = text(attribute);
  std::int64_t found = 0;
  auto const [stop, failure] = std::from_chars(written.data(), written.data() + written.size(), found);
  bool const is_number = failure == std::errc() && stop == written.data() + written.size();
  if (!is_number || found >= end || found < (or_none ? -1 : 0))
    throw schedule_error(
        text::format("{} of <{}> is '{}', not a whole number below {}", attribute, name, written, end));
  return found;
}

xml_element read_xml(std::string_view text) { return scanner(text).document(); }

}  // namespace coset::schedule
