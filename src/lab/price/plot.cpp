// SPDX-License-Identifier: Apache-2.0
// Plots by gnuplot: the script holds the data, so that it can be changed and drawn again elsewhere.
#include "lab/price/plot.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>

#include "command/output.hpp"
#include "coset/error.hpp"

namespace coset::cli {
namespace {

/// In quotation marks, on one line.
std::string gnuplot_text(std::string const& text) {
  std::string inside;
  for (char const c : text)
    inside += c == '\'' ? "''" : std::string(1, static_cast<unsigned char>(c) < ' ' || c == '\x7f' ? '_' : c);
  return '\'' + inside + '\'';
}

/// What gnuplot prints; empty if it is missing or fails.
std::string printed_by_gnuplot(std::string const& script) {
  temporary_file const file(script);
  std::FILE* const gnuplot = ::popen(fmt::format("gnuplot {}", gnuplot_text(file.name())).c_str(), "r");
  if (gnuplot == nullptr) return "";
  std::string svg;
  std::array<char, 4096> part;
  while (auto const size = std::fread(part.data(), 1, part.size(), gnuplot)) svg.append(part.data(), size);
  return ::pclose(gnuplot) == 0 ? svg : "";
}

}  // namespace

std::string gnuplot_script(picture const& of, std::string const& svg) {
  std::string data, curves;
  for (std::size_t c = 0; c < of.curves.size(); ++c) {
    data += fmt::format("$curve{} << end\n", c);
    for (auto const& [at, value] : of.curves[c].points) data += fmt::format("{} {:.6g}\n", at, value);
    data += "end\n";
    curves += fmt::format("{}$curve{} with linespoints title {}", c == 0 ? "plot " : ", \\\n     ", c,
                          gnuplot_text(of.curves[c].title));
  }
  return fmt::format(
      "{}set terminal svg size 900,600 noenhanced background 'white'\n{}set title {}\n"
      "set logscale {}\nset xlabel {}\nset ylabel {}\nset key top left\nset grid\n{}\n",
      data, svg.empty() ? "" : fmt::format("set output {}\n", gnuplot_text(svg)), gnuplot_text(of.title),
      of.is_along_logarithmic ? "xy" : "y", gnuplot_text(of.along), gnuplot_text(of.value), curves);
}

void draw(picture const& of, std::string const& name) {
  output_file const file(name);
  if (name.ends_with(".gp")) return file.write(gnuplot_script(of, name.substr(0, name.size() - 3) + ".svg"));
  auto const svg = printed_by_gnuplot(gnuplot_script(of, ""));
  if (svg.empty())
    throw output_error(
        fmt::format("{} cannot be drawn: gnuplot is missing or has failed (Debian: gnuplot-nox); a name "
                    "that ends in .gp gets its script instead",
                    name));
  file.write(svg);
}

}  // namespace coset::cli
