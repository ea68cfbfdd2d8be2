// SPDX-License-Identifier: Apache-2.0
// Numbers in options: every numeric option of the command is checked by one of these.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "coset/error.hpp"

namespace coset::cli {

inline constexpr std::uint64_t most_ranks = std::numeric_limits<rank_t>::max();

/// A petabyte: sums of sizes and their products with counts of ranks fit into 64 bits.
inline constexpr std::uint64_t most_bytes = std::uint64_t{1} << 50;

/// Decimal digits only, no sign. Empty if the text is anything else, or does not fit.
std::optional<std::uint64_t> whole_number_in(std::string_view);

/// "424", "64K", "1MiB", in powers of 1024. Empty if the text is anything else, or more than most_bytes.
std::optional<std::uint64_t> byte_size_in(std::string_view);

/// 0 to 10^9 seconds, finite. Empty if the text is anything else.
std::optional<double> seconds_in(std::string_view);

/// For CLI::Option::check() and transform(): a refusal says which values are accepted.
CLI::Validator whole_number(std::uint64_t least, std::uint64_t most);
CLI::Validator byte_size();  ///< of at least a byte; transforms to digits
CLI::Validator seconds();

/// One of these words; a refusal says which it may have been meant for.
CLI::Validator one_of(std::vector<std::string> words);

/// The option for the number of ranks, which is the same in all commands.
CLI::Option* add_ranks(CLI::App&, rank_t& ranks, std::string const& meaning);

}  // namespace coset::cli
