// SPDX-License-Identifier: Apache-2.0
// Names of types and operations by their hash: what another process's messages tell of them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "coset/detail/reduction.hpp"

namespace coset::planning {

/// As described_signature and envelopes have it.
constexpr std::uint32_t kind_of(detail::reduction_table const& of) { return static_cast<std::uint32_t>(of.hash >> 32); }

struct kind_names {
  std::string_view type, operation;
};

/// Of the language's and the library's own types and operations; a caller's own ones are not known. Cost: a search
/// through some 250 hashes, for messages of errors.
std::optional<kind_names> names_of(std::uint32_t kind);

}  // namespace coset::planning
