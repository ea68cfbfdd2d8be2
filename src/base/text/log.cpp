// SPDX-License-Identifier: Apache-2.0
#include "base/text/log.hpp"

#include "base/environment/variables.hpp"

namespace coset::text {

namespace {
bool is_logged(std::string_view word) { return environment::has_word(environment::value("COSET_LOG"), word); }
}  // namespace

bool plans_are_logged() { return is_logged("plan"); }
bool teams_are_logged() { return is_logged("team"); }

}  // namespace coset::text
