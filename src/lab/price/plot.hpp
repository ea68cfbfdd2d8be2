// SPDX-License-Identifier: Apache-2.0
// Curves drawn by gnuplot, which is started only then.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace coset::cli {

/// Curves over one axis; the other one is logarithmic.
struct picture {
  struct curve {
    std::string title;
    std::vector<std::pair<std::uint64_t, double>> points;
  };
  std::string title, along, value;  ///< what the axes are
  bool is_along_logarithmic = true;
  std::vector<curve> curves;
};

/// A script for gnuplot, with its data, that draws the picture to the file `svg`, or to its standard output.
std::string gnuplot_script(picture const&, std::string const& svg);

/// Writes the picture, or the script alone if the name ends in .gp. Throws output_error if gnuplot is missing or fails.
void draw(picture const&, std::string const& file);

}  // namespace coset::cli
