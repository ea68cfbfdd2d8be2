// SPDX-License-Identifier: Apache-2.0
// What the user wants to be told of.
#pragma once

namespace coset::text {

/// Whether COSET_LOG asks for what is chosen, and why not something else.
bool plans_are_logged();
/// Whether it asks for what making each team took.
bool teams_are_logged();

}  // namespace coset::text
