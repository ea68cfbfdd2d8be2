// SPDX-License-Identifier: Apache-2.0
// Predicates over the points of a figure, and how they say what they have found.
#include "lab/reproduce/checks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <stdexcept>

#include "command/bytes.hpp"

namespace coset::cli::reproduction {
namespace {

std::vector<point const*> points_in(curves const& all, std::string const& curve, where const& in) {
  auto found = all.of(curve, in.setting);
  std::erase_if(found,
                [&](point const* p) { return p->bytes < in.from || p->bytes > in.to || (in.of && !in.of(p->ranks)); });
  if (found.empty()) throw std::out_of_range("no points of " + curve);
  return found;
}

/// The least time of the rivals where `place` is, by the curve's.
double lead(curves const& all, point const& place, std::vector<std::string> const& rivals) {
  double least = std::numeric_limits<double>::infinity();
  for (auto const& rival : rivals) least = std::min(least, all.at(place, rival).value);
  return least / place.value;
}

/// The least and the largest of some numbers.
struct spread {
  double least = std::numeric_limits<double>::infinity(), most = -least;
  void add(double value) { least = std::min(least, value), most = std::max(most, value); }
  std::string text() const {
    auto const low = fmt::format("{:.2f}", least), high = fmt::format("{:.2f}", most);
    return low == high ? low : fmt::format("{} to {}", low, high);
  }
};

}  // namespace

std::vector<point const*> curves::of(std::string_view curve, std::string_view setting) const {
  std::vector<point const*> found;
  for (point const& p : points_)
    if (p.curve == curve && p.setting.find(setting) != std::string::npos) found.push_back(&p);
  return found;
}

point const& curves::at(point const& place, std::string_view curve) const {
  for (point const& p : points_)
    if (p.curve == curve && p.setting == place.setting && p.ranks == place.ranks && p.bytes == place.bytes) return p;
  throw std::out_of_range(fmt::format("{} has no point of {} bytes on {} ranks", curve, place.bytes, place.ranks));
}

predicate faster(std::string const& curve, std::vector<std::string> const& rivals, where const& in) {
  return [=](curves const& all) {
    spread found;
    std::size_t ahead = 0;
    auto const points = points_in(all, curve, in);
    for (point const* p : points) {
      double const times = lead(all, *p, rivals);
      found.add(times);
      ahead += times > 1 + 1e-9;
    }
    return finding{ahead == points.size(),
                   fmt::format("ahead at {} of {} points, {} times as fast", ahead, points.size(), found.text())};
  };
}

predicate as_fast(std::string const& curve, std::string const& rival, where const& in) {
  return [=](curves const& all) {
    spread found;
    for (point const* p : points_in(all, curve, in)) found.add(lead(all, *p, {rival}));
    bool const holds = found.least > 0.999 && found.most < 1.001;
    return finding{holds, holds ? "the same times" : fmt::format("{} times as fast", found.text())};
  };
}

predicate saves(std::string const& curve, std::string const& rival, double least, double most, where const& in) {
  return [=](curves const& all) {
    spread found;
    for (point const* p : points_in(all, curve, in)) found.add(100 - 100 / lead(all, *p, {rival}));
    return finding{found.least >= least - 1 && found.most <= most + 1,
                   fmt::format("{:.0f} to {:.0f} %", found.least, found.most)};
  };
}

predicate ahead_above(std::string const& curve, std::vector<std::string> const& rivals,
                      std::function<double(rank_t)> const& claimed, where const& in) {
  return [=](curves const& all) {
    std::map<rank_t, std::uint64_t> last_behind;  // 0: at no size
    finding found{true, ""};
    for (point const* p : points_in(all, curve, in)) {
      auto const last = last_behind.try_emplace(p->ranks, 0).first;
      if (lead(all, *p, rivals) > 1) continue;
      last->second = std::max(last->second, p->bytes);
      found.holds = found.holds && static_cast<double>(p->bytes) <= claimed(p->ranks);
    }
    for (auto const& [ranks, bytes] : last_behind)
      found.by_model += fmt::format("{}{} on {} ranks", found.by_model.empty() ? "" : ", ",
                                    bytes == 0 ? "at all sizes" : "above " + bytes_for_people(bytes), ranks);
    return found;
  };
}

predicate alone_without_contention(std::string const& curve, std::vector<std::string> const& rivals, where const& in) {
  return [=](curves const& all) {
    auto const contention = [&](std::string const& of) {
      spread found;
      for (point const* p : points_in(all, of, in)) found.add(p->contention);
      return found;
    };
    auto const own = contention(curve);
    finding found{own.most < 1 + 1e-9, "transfers of the " + curve + " take " + own.text()};
    for (auto const& rival : rivals) {
      auto const other = contention(rival);
      found.holds = found.holds && other.least > 1 + 1e-9;
      found.by_model += fmt::format(", of {} {}", rival, other.text());
    }
    found.by_model += " times what they would alone";
    return found;
  };
}

claim worked(std::string what, std::string const& source, std::function<std::string()> const& by_model) {
  auto check = [=](curves const&) {
    std::string text = by_model();
    bool const holds = text == source;
    return finding{holds, std::move(text)};
  };
  return {std::move(what), source, check};
}

claim for_all(std::string what, std::string source, std::string cases, std::function<std::string()> exception) {
  auto check = [cases = std::move(cases), exception = std::move(exception)](curves const&) {
    std::string const found = exception();
    return finding{found.empty(), found.empty() ? "holds for " + cases : found};
  };
  return {std::move(what), std::move(source), check};
}

}  // namespace coset::cli::reproduction
