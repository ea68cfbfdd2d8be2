// SPDX-License-Identifier: Apache-2.0
// Of XML what MSCCL's algorithms have: elements with attributes.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace coset::schedule {

struct xml_element {
  std::string name;
  std::map<std::string, std::string> attributes;
  std::vector<xml_element> children = {};

  /// Throws schedule_error naming element and attribute if that is missing.
  std::string const& text(std::string const& attribute) const;
  /// A whole number below `end`, −1 for "-1" if that is allowed. Throws schedule_error for anything else.
  std::int64_t number(std::string const& attribute, std::int64_t end, bool or_none = false) const;
};

/// The one element of a document. Comments and declarations are passed over. Throws schedule_error for text between
/// elements, entities, anything else that is not in this small part of XML, and elements nested deeper than eight.
xml_element read_xml(std::string_view);

}  // namespace coset::schedule
