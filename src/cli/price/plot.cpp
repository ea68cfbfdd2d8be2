// SPDX-License-Identifier: Apache-2.0
// Plots by gnuplot: the script holds the data, so that it can be changed and drawn again elsewhere.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <set>

#include "cli/output.hpp"
#include "cli/price/comparison.hpp"

namespace coset::cli {
namespace {

/// In quotation marks, on one line.
std::string gnuplot_text(std::string const& text) {
  std::string inside;
  for (char const c : text)
    inside += c == '\'' ? "''" : std::string(1, static_cast<unsigned char>(c) < ' ' || c == '\x7f' ? '_' : c);
  return '\'' + inside + '\'';
}

/// What the curves run over: bytes, or ranks if there is one size.
struct axis {
  bool is_ranks;
  std::set<rank_t> ranks;
  std::set<std::uint64_t> bytes;
};

axis axis_of(comparison const& of) {
  axis found{};
  for (compared const& row : of.rows) found.ranks.insert(row.ranks), found.bytes.insert(row.bytes);
  found.is_ranks = found.bytes.size() == 1;
  return found;
}

}  // namespace

std::vector<std::string> curves_of(comparison const& of, std::size_t most) {
  std::vector<std::string> all, fastest;
  auto const note = [](std::vector<std::string>& list, std::string const& name) {
    if (std::ranges::find(list, name) == list.end()) list.push_back(name);
  };
  for (auto row = of.rows.begin(); row != of.rows.end();) {
    auto const end = std::find_if(row, of.rows.end(),
                                  [&](compared const& r) { return r.ranks != row->ranks || r.bytes != row->bytes; });
    note(fastest, std::min_element(row, end, [](compared const& a, compared const& b) {
                    return a.price.total() < b.price.total();
                  })->name);
    for (; row != end; ++row) note(all, row->name);
  }
  return all.size() <= most ? all : fastest;
}

std::string gnuplot_script(comparison const& of, std::string const& svg) {
  axis const along = axis_of(of);
  if (along.ranks.size() == 1 && along.bytes.size() == 1)
    throw argument_error("one size on one number of ranks is no curve: give --plot several, as -b 1K-16M");
  constexpr std::size_t most_curves = 8;
  auto const names = curves_of(of, most_curves);
  std::string data, curves;
  std::size_t number = 0;
  for (std::string const& name : names)
    for (rank_t const ranks : along.is_ranks ? std::set<rank_t>{0} : along.ranks) {
      std::string points;
      for (compared const& row : of.rows)
        if (row.name == name && (ranks == 0 || row.ranks == ranks))
          points += fmt::format("{} {:.6g}\n", along.is_ranks ? row.ranks : row.bytes, row.price.total() * 1e6);
      if (points.empty()) continue;
      std::string const block = fmt::format("$curve{}", number++);
      data += fmt::format("{} << end\n{}end\n", block, points);
      std::string const title = along.ranks.size() > 1 && ranks != 0 ? fmt::format("{}, {} ranks", name, ranks) : name;
      curves += fmt::format("{}{} with linespoints title {}", curves.empty() ? "plot " : ", \\\n     ", block,
                            gnuplot_text(title));
    }
  std::string const where = along.is_ranks           ? fmt::format("{} bytes", *along.bytes.begin())
                            : along.ranks.size() > 1 ? ""
                                                     : fmt::format("{} ranks", *along.ranks.begin());
  return fmt::format(
      "{}set terminal svg size 900,600 noenhanced background 'white'\n{}set title {}\n"
      "set logscale {}\nset xlabel '{}'\nset ylabel 'microseconds, by the model'\nset key top left\nset grid\n{}\n",
      data, svg.empty() ? "" : fmt::format("set output {}\n", gnuplot_text(svg)),
      gnuplot_text(fmt::format("{} {}; {}", name_of(of.verb), where, of.model)), along.is_ranks ? "y" : "xy",
      along.is_ranks ? "ranks" : "bytes", curves);
}

namespace {

/// A file that is gone when nobody needs it any more.
class temporary_file {
 public:
  explicit temporary_file(std::string const& text) : name_(std::filesystem::temp_directory_path() / "coset-XXXXXX") {
    int const made = ::mkstemp(name_.data());
    if (made < 0) throw output_error(fmt::format("cannot write '{}': {}", name_, std::strerror(errno)));
    ::close(made);
    output_file(name_).write(text);
  }
  ~temporary_file() { std::remove(name_.c_str()); }
  temporary_file(temporary_file const&) = delete;
  temporary_file& operator=(temporary_file const&) = delete;

  std::string const& name() const { return name_; }

 private:
  std::string name_;
};

/// What gnuplot prints; empty if it is missing or fails.
std::string drawn(std::string const& script) {
  temporary_file const file(script);
  std::FILE* const gnuplot = ::popen(fmt::format("gnuplot {}", gnuplot_text(file.name())).c_str(), "r");
  if (gnuplot == nullptr) return "";
  std::string picture;
  std::array<char, 4096> part;
  while (auto const size = std::fread(part.data(), 1, part.size(), gnuplot)) picture.append(part.data(), size);
  return ::pclose(gnuplot) == 0 ? picture : "";
}

}  // namespace

void plot(comparison const& of, std::string const& name) {
  output_file const file(name);
  if (name.ends_with(".gp")) return file.write(gnuplot_script(of, name.substr(0, name.size() - 3) + ".svg"));
  auto const picture = drawn(gnuplot_script(of, ""));
  if (picture.empty())
    throw output_error(
        fmt::format("{} cannot be drawn: gnuplot is missing or has failed (Debian: gnuplot-nox); a name "
                    "that ends in .gp gets its script instead",
                    name));
  file.write(picture);
}

}  // namespace coset::cli
