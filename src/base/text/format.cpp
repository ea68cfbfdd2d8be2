// SPDX-License-Identifier: Apache-2.0
// The only file that contains fmt, so that nobody who links coset has to find it.
#include "base/text/format.hpp"

#include <cstdio>
#include <iterator>

namespace coset::text {

void append_erased(std::string& to, fmt::string_view pattern, fmt::format_args arguments) {
  fmt::vformat_to(std::back_inserter(to), pattern, arguments);
}

void complain(std::string const& line) { fmt::print(stderr, "coset: {}\n", line); }

}  // namespace coset::text
