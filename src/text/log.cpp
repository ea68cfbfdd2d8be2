// SPDX-License-Identifier: Apache-2.0
#include "text/log.hpp"

#include <cstdlib>
#include <string_view>

namespace coset::text {

bool plans_are_logged() {
  char const* const wanted = std::getenv("COSET_LOG");
  return wanted != nullptr && std::string_view(wanted) == "plan";
}

}  // namespace coset::text
