// SPDX-License-Identifier: Apache-2.0
// The system's account of each processor, less what this program had.
#include "command/measure/machine/others.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <set>
#include <sstream>
#include <string>

#include "base/text/file.hpp"

namespace coset::measure {

others::others(std::vector<unsigned> const& processors) {
  std::set<unsigned> const each(processors.begin(), processors.end());
  processors_.assign(each.begin(), each.end());
  before_ = so_far();
}

others::seconds others::so_far() const {
  seconds found;
  std::istringstream lines(text::read_file("/proc/stat").text);
  double const tick = 1.0 / static_cast<double>(sysconf(_SC_CLK_TCK));
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string name;
    words >> name;
    auto const is_it = [&](unsigned p) { return name == "cpu" + std::to_string(p); };
    if (std::none_of(processors_.begin(), processors_.end(), is_it)) continue;
    std::array<double, 8> ticks{};  // user, nice, system, idle, waiting for devices, interrupts, soft ones, stolen
    for (double& of : ticks) words >> of;
    for (std::size_t k = 0; k < ticks.size(); ++k)
      if (k != 3 && k != 4) found.all += ticks[k] * tick;
  }
  rusage own{};
  getrusage(RUSAGE_SELF, &own);
  auto const in_seconds = [](timeval t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  found.own = in_seconds(own.ru_utime) + in_seconds(own.ru_stime);
  return found;
}

double others::share() const {
  std::chrono::duration<double> const spent = std::chrono::steady_clock::now() - since_;
  seconds const now = so_far();
  // The account of each processor is cut to ticks, so that some of them prove nothing.
  double const processors = static_cast<double>(processors_.size());
  double const unsure = 3 * processors / static_cast<double>(sysconf(_SC_CLK_TCK));
  double const of_others = now.all - before_.all - (now.own - before_.own) - unsure;
  return std::clamp(of_others / (spent.count() * processors), 0.0, 1.0);
}

}  // namespace coset::measure
