// SPDX-License-Identifier: Apache-2.0
// Writing Plan JSON, a step per line group, so that large plans stream and small ones can be read.
#include "planning/schedule/files/plan_json.hpp"

#include <charconv>
#include <nlohmann/json.hpp>
#include <ostream>

#include "base/text/format.hpp"
#include "planning/schedule/core/required.hpp"

namespace coset::schedule {
namespace {

using nlohmann::ordered_json;

ordered_json number_or_text(std::string const& value) {
  std::int64_t number = 0;
  auto const [end, failure] = std::from_chars(value.data(), value.data() + value.size(), number);
  bool const whole = failure == std::errc() && end == value.data() + value.size();
  return whole ? ordered_json(number) : ordered_json(value);
}

ordered_json parameters_of(schedule const& made) {
  ordered_json all = ordered_json::object();
  for (auto const& [key, value] : made.parameters) all[key] = number_or_text(value);
  return all;
}

ordered_json blocks_of(schedule const& made) {
  ordered_json all = ordered_json::array();
  for (block const& b : made.blocks) all.push_back({{"offset", b.offset.text()}, {"size", b.size.text()}});
  return all;
}

ordered_json properties_of(properties const& found) {
  return {{"steps", found.steps},
          {"sent_max", found.sent_max.text()},
          {"received_max", found.received_max.text()},
          {"combined_max", found.combined_max.text()},
          {"volume_bound", found.volume_bound.text()},
          {"fan_in", found.fan_in},
          {"rank_uniform", found.rank_uniform},
          {"ordered", found.ordered}};
}

void write_step(std::ostream& out, schedule const& made, std::vector<assignment> const& step) {
  out << "[";
  char const* between = "";
  for (assignment const& a : step) {
    std::string line;
    text::append(line, R"({}{{"rank": {}, "block": {}, "slot": {}, "from": [)", between, a.rank, a.block, a.slot);
    char const* comma = "";
    for (source const& s : made.from(a)) {
      text::append(line, "{}[{}, {}]", comma, s.rank, s.slot);
      comma = ", ";
    }
    text::append(line, "]}}");
    out.write(line.data(), static_cast<std::streamsize>(line.size()));
    between = ",\n  ";
  }
  out << "]";
}

void write_result(std::ostream& out, std::vector<slot_t> const& row) {
  out << "[";
  char const* between = "";
  for (slot_t const slot : row) {
    out << between;
    slot == no_slot ? out << "null" : out << slot;
    between = ", ";
  }
  out << "]";
}

}  // namespace

std::vector<std::string> contradictions(statements const& stated, properties const& found) {
  ordered_json const so = properties_of(found);
  std::vector<std::string> all;
  for (auto const& [name, value] : stated) {
    if (!so.contains(name))
      all.push_back(text::format("{} is {}, and there is no such property", ordered_json(name).dump(), value));
    else if (std::string const true_value = so[name].dump(); value != true_value)
      all.push_back(text::format("{} is {}, and {} was found", name, value, true_value));
  }
  return all;
}

void write_plan(std::ostream& out, schedule const& made, properties const& found) {
  auto const list = [&](auto const& items, auto write) {
    out << "[";
    char const* between = "\n ";
    for (auto const& item : items) {
      out << between;
      write(item);
      between = ",\n ";
    }
    out << "]";
  };
  ordered_json head{{"coset_plan", 1},
                    {"collective", name_of(made.verb)},
                    {"algorithm", made.algorithm},
                    {"parameters", parameters_of(made)},
                    {"root", made.root ? ordered_json(*made.root) : ordered_json(nullptr)},
                    {"ranks", made.ranks},
                    {"blocks", blocks_of(made)}};
  if (made.idempotent_only) head["idempotent_only"] = true;
  std::string const opened =
      head.dump(-1, ' ', false, ordered_json::error_handler_t::replace);      // names of files can be no UTF-8
  out.write(opened.data(), static_cast<std::streamsize>(opened.size() - 1));  // the closing brace comes last
  out << ",\n\"steps\": ";
  list(made.steps, [&](auto const& step) { write_step(out, made, step); });
  out << ",\n\"result\": ";
  list(made.result, [&](auto const& row) { write_result(out, row); });
  out << ",\n\"properties\": " << properties_of(found) << "}\n";
}

}  // namespace coset::schedule
