// SPDX-License-Identifier: Apache-2.0
#include "lab/price/soon.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "command/progress.hpp"

namespace coset::cli {

std::string visit_soon(std::vector<schedule::algorithm> const& all, rank_t ranks,
                       std::function<void(schedule::algorithm const&)> const& visit) {
  constexpr std::size_t most_blocks = std::size_t{1} << 18;  // 512 ranks that own one each
  schedule::room_limit const soon(most_blocks);
  progress shown;
  std::vector<std::string> too_many;
  for (std::size_t k = 0; k < all.size(); ++k) {
    shown.at(k + 1, all.size(), fmt::format("{} on {} ranks", all[k].text(), ranks));
    try {
      visit(all[k]);
    } catch (schedule::no_room const&) {
      too_many.push_back(all[k].text());
    } catch (schedule_error const&) {  // not for so many ranks
    }
  }
  if (too_many.empty()) return "";
  return fmt::format("not counted, as they would be written out for all of {} ranks: {}\n", ranks,
                     fmt::join(too_many, ", "));
}

}  // namespace coset::cli
