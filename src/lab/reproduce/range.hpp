// SPDX-License-Identifier: Apache-2.0
// The numbers that a claim allows, or that contradict it, written as people do: "0.97..1", "<= 1.05", "= 0", "not 9".
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace coset::cli::reproduction {

/// A set of numbers: parts joined by "or", each of them "= x", "< x", "<= x", "> x", ">= x", "x..y" with both ends, or one of
/// these after "not".
class range {
 public:
  /// Throws argument_error quoting what it cannot read.
  explicit range(std::string_view text);

  bool has(double value) const;
  std::string const& text() const { return text_; }

 private:
  struct part {
    double least, most;
    bool has_least, has_most;  ///< whether the ends belong to it
    bool is_complement;
  };
  static part part_of(std::string_view text);

  std::string text_;
  std::vector<part> parts_;
};

}  // namespace coset::cli::reproduction
