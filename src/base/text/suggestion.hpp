// SPDX-License-Identifier: Apache-2.0
// What somebody may have meant who wrote a word that nobody knows.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace coset::text {

/// The one that fewest letters have to be inserted, deleted or changed for, or neighbours exchanged; of at least one.
std::string nearest(std::string_view word, std::vector<std::string> const& known);

/// "; did you mean 'ring'?", to end a refusal; empty if no known word is near, at most a third of the letters away.
std::string did_you_mean(std::string_view word, std::vector<std::string> const& known);

/// "'rign' is none of direct, ring; did you mean 'ring'?"
std::string none_of(std::string_view word, std::vector<std::string> const& known);

}  // namespace coset::text
