// SPDX-License-Identifier: Apache-2.0
#include "text/log.hpp"

#include "environment/variables.hpp"

namespace coset::text {

bool plans_are_logged() { return environment::has_word(environment::value("COSET_LOG"), "plan"); }

}  // namespace coset::text
