// SPDX-License-Identifier: Apache-2.0
#include "base/text/json.hpp"

#include <istream>

namespace coset::text {

using nlohmann::json;

json read_json(std::istream& in, bool may_throw) { return json::parse(in, nullptr, may_throw); }

std::string json_text(json const& value, int indent) { return value.dump(indent); }

}  // namespace coset::text
