// SPDX-License-Identifier: Apache-2.0
#include "coset/study/schedules.hpp"

#include <sstream>

#include "command/shown/draw.hpp"
#include "planning/schedule/core/validate.hpp"
#include "planning/schedule/files/plan_json.hpp"
#include "planning/schedule/model/cost.hpp"
#include "planning/schedule/registry/algorithm.hpp"

namespace coset::inline COSET_ABI::study {
namespace {

schedule::schedule made(named_schedule const& wanted) {
  return schedule::make(schedule::algorithm::parse(wanted.algorithm), wanted.ranks, wanted.what, wanted.root);
}

schedule::schedule proved(named_schedule const& wanted) {
  auto schedule = made(wanted);
  static_cast<void>(validate(schedule));
  return schedule;
}

}  // namespace

std::string text(named_schedule const& wanted) { return draw_text(proved(wanted)); }
std::string dot(named_schedule const& wanted) { return draw_dot(proved(wanted)); }
std::string svg(named_schedule const& wanted) { return draw_svg(proved(wanted)); }

std::string json(named_schedule const& wanted) {
  auto const schedule = made(wanted);
  std::ostringstream out;
  write_plan(out, schedule, validate(schedule));
  return out.str();
}

double seconds(named_schedule const& wanted, double bytes, flat_network const& network) {
  auto const model = schedule::cost_model::flat(network.latency, network.per_byte, network.combine_per_byte);
  return schedule::counts(proved(wanted), model).seconds(bytes);
}

}  // namespace coset::study
