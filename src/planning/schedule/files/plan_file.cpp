// SPDX-License-Identifier: Apache-2.0
// Reading Plan JSON: invalid plans are refused, naming the place, so that every schedule read here can be proved or
// refuted.
#include "planning/schedule/files/plan_file.hpp"

#include <algorithm>
#include <charconv>
#include <initializer_list>
#include <istream>
#include <utility>

#include "base/text/format.hpp"
#include "base/text/json.hpp"
#include "base/text/printable.hpp"
#include "planning/schedule/core/required.hpp"
#include "planning/schedule/core/validate.hpp"

namespace coset::schedule {
namespace {

using json = nlohmann::json;

/// Calls read() for one item of a list, whose place its failures then name.
template <typename Read>
auto placed_at(std::string_view what, std::size_t index, Read read) {
  try {
    return read();
  } catch (schedule_error const& e) {
    throw schedule_error(text::format("{} {}: {}", what, index, e.what()));
  }
}

/// Lists and objects can be nested as deep as their text is long: they are named, not shown.
std::string shown(json const& value) { return value.is_structured() ? value.type_name() : text::json_text(value); }

void require_keys(json const& value, std::initializer_list<std::string_view> keys) {
  if (!value.is_object()) throw schedule_error(shown(value) + " is not an object");
  for (std::string_view const key : keys)
    if (!value.contains(key)) throw schedule_error(text::format("{} is missing", key));
  for (auto const& [key, ignored] : value.items())
    if (std::ranges::find(keys, key) == keys.end())
      throw schedule_error(text::format("unknown key {}", text::json_text(key)));
}

json const& list(json const& value, std::string_view what) {
  if (!value.is_array()) throw schedule_error(text::format("{} is {}, not a list", what, shown(value)));
  return value;
}

std::uint32_t number(json const& value, std::string_view what, std::uint64_t end) {
  if (!value.is_number_unsigned() || value.get<std::uint64_t>() >= end)
    throw schedule_error(text::format("{} is {}, not a whole number below {}", what, shown(value), end));
  return value.get<std::uint32_t>();
}

/// Names and values are shown on terminals and in pictures.
std::string text(json const& value, std::string_view what) {
  auto const* const found = value.get_ptr<json::string_t const*>();
  if (found == nullptr || found->empty() || !text::is_printable(*found))
    throw schedule_error(text::format("{} is {}, not a text of printable characters", what, shown(value)));
  return *found;
}

std::string parameter_text(json const& value, std::string const& key) {
  json const name(key);
  text(name, "a parameter's name");
  return value.is_number_integer() ? text::json_text(value) : text(value, "the parameter " + key);
}

fraction fraction_of(json const& value, std::string_view what) {
  std::string const written = text(value, what);
  auto const slash = std::min(written.find('/'), written.size());
  std::int64_t numerator = 0, denominator = 1;
  auto const parse = [&](std::size_t begin, std::size_t end, std::int64_t& into) {
    auto const [stop, failure] = std::from_chars(written.data() + begin, written.data() + end, into);
    return failure == std::errc() && stop == written.data() + end;
  };
  bool const whole = slash == written.size();
  if (parse(0, slash, numerator) && (whole || parse(slash + 1, written.size(), denominator)) && denominator != 0) {
    fraction const found(numerator, denominator);
    if (found.text() == written) return found;
  }
  throw schedule_error(text::format("{} is {}, not a fraction in lowest terms like \"1/7\"", what, shown(value)));
}

statements stated_in(json const& properties) {
  if (!properties.is_object()) return {{"properties", shown(properties)}};
  statements all;
  for (auto const& [name, value] : properties.items()) all.emplace(name, shown(value));
  return all;
}

/// Of a key that may be left out, which then is false. It is not there any more afterwards.
bool taken_flag(json& file, char const* key) {
  if (!file.is_object() || !file.contains(key)) return false;
  json const found = file[key];
  if (!found.is_boolean()) throw schedule_error(text::format("{} is {}, neither true nor false", key, shown(found)));
  file.erase(key);
  return found.get<bool>();
}

class reader {
 public:
  explicit reader(json const& file) : file_(file) {}

  schedule read() && {
    read_head();
    read_blocks();
    read_result();
    check_shape(made_);  // before anything is allocated for all ranks and blocks
    read_steps();
    check_slots();
    return std::move(made_);
  }

 private:
  void read_head() {
    require_keys(file_,
                 {"coset_plan", "collective", "algorithm", "parameters", "root", "ranks", "blocks", "steps", "result"});
    if (file_["coset_plan"] != 1) throw schedule_error("coset_plan is " + shown(file_["coset_plan"]) + ", not 1");
    made_.verb = scheduled_verb(text(file_["collective"], "collective"));
    made_.algorithm = text(file_["algorithm"], "algorithm");
    if (!file_["parameters"].is_object())
      throw schedule_error("parameters are " + shown(file_["parameters"]) + ", not an object");
    for (auto const& [key, value] : file_["parameters"].items())
      made_.parameters.emplace(key, parameter_text(value, key));
    made_.ranks = number(file_["ranks"], "ranks", std::uint64_t{UINT32_MAX} + 1);
    bool const rooted = detail::is_rooted(made_.verb);
    if (rooted) {
      made_.root = number(file_["root"], "root", made_.ranks);
    } else if (!file_["root"].is_null()) {
      throw schedule_error(text::format("root is {}, and {} has none", shown(file_["root"]), name_of(made_.verb)));
    }
  }

  void read_blocks() {
    json const& blocks = list(file_["blocks"], "blocks");
    require_room(made_.ranks, blocks.size());
    for (std::size_t b = 0; b < blocks.size(); ++b)
      made_.blocks.push_back(placed_at("block", b, [&] {
        require_keys(blocks[b], {"offset", "size"});
        return block{fraction_of(blocks[b]["offset"], "offset"), fraction_of(blocks[b]["size"], "size")};
      }));
  }

  void read_result() {
    json const& rows = list(file_["result"], "result");
    for (std::size_t r = 0; r < rows.size(); ++r) {
      auto& row = made_.result.emplace_back();
      placed_at("result of rank", r, [&] {
        for (json const& slot : list(rows[r], "it"))
          row.push_back(slot.is_null() ? no_slot : number(slot, "slot", no_slot));
      });
    }
  }

  void read_steps() {
    json const& steps = list(file_["steps"], "steps");
    for (std::size_t i = 0; i < steps.size(); ++i) {
      auto& step = made_.steps.emplace_back();
      placed_at("step", i, [&] {
        json const& assignments = list(steps[i], "it");
        for (std::size_t a = 0; a < assignments.size(); ++a)
          step.push_back(placed_at("assignment", a, [&] { return read_assignment(assignments[a]); }));
      });
    }
  }

  assignment read_assignment(json const& from) {
    require_keys(from, {"rank", "block", "slot", "from"});
    json const& sources = list(from["from"], "from");
    if (sources.empty()) throw schedule_error("from is empty");
    if (sources.size() > UINT32_MAX - made_.sources.size()) throw schedule_error("there are 2^32 sources or more");
    auto const first = static_cast<std::uint32_t>(made_.sources.size());
    for (json const& s : sources) {
      if (!s.is_array() || s.size() != 2) throw schedule_error("a source is " + shown(s) + ", not [rank, slot]");
      made_.sources.push_back({number(s[0], "a source's rank", made_.ranks), number(s[1], "a source's slot", no_slot)});
    }
    return {number(from["rank"], "rank", made_.ranks), number(from["block"], "block", made_.blocks.size()),
            number(from["slot"], "slot", no_slot), first, static_cast<std::uint32_t>(sources.size())};
  }

  /// The slots that a rank writes of a block are 1, 2, … without a gap, so that tables by slot are as small as the
  /// file.
  void check_slots() {
    std::vector<std::size_t> end(made_.ranks * made_.blocks.size() + 1, 0);  // of each (rank, block) in `written`
    auto const place = [&](rank_t rank, block_t block) { return rank * made_.blocks.size() + block; };
    for_each_assignment([&](assignment const& a) { ++end[place(a.rank, a.block) + 1]; });
    for (std::size_t at = 1; at < end.size(); ++at) end[at] += end[at - 1];
    auto const slots = [&](rank_t r, block_t b) { return end[place(r, b) + 1] - end[place(r, b)]; };
    auto const check = [&](std::string_view what, rank_t r, block_t b, slot_t slot) {
      if (slot > slots(r, b))
        throw schedule_error(
            text::format("{} slot {} of rank {}, block {}, which writes {}, numbered from 1 without gaps", what, slot,
                         r, b, slots(r, b)));
    };
    std::vector<bool> written(end.back(), false);
    for_each_assignment([&](assignment const& a) {
      if (a.slot == 0)
        throw schedule_error(text::format("slot 0 of rank {}, block {}, its input, is written", a.rank, a.block));
      check("there is a", a.rank, a.block, a.slot);
      auto bit = written[end[place(a.rank, a.block)] + a.slot - 1];
      if (bit)
        throw schedule_error(text::format("slot {} of rank {}, block {} is written twice", a.slot, a.rank, a.block));
      bit = true;
      for (source const& s : made_.from(a)) check("something reads", s.rank, a.block, s.slot);
    });
    for (rank_t r = 0; r < made_.ranks; ++r)
      for (block_t b = 0; b < made_.blocks.size(); ++b)
        if (made_.result[r][b] != no_slot) check("the result is", r, b, made_.result[r][b]);
  }

  template <typename Visit>
  void for_each_assignment(Visit visit) const {
    for (auto const& step : made_.steps)
      for (assignment const& a : step) visit(a);
  }

  json const& file_;
  schedule made_;
};

}  // namespace

plan_file read_plan(std::istream& in, std::string const& origin) {
  auto const refused = [&](std::exception const& why) {
    return schedule_error(text::format("{} is not a plan: {}", origin, why.what()));
  };
  try {
    json file = text::read_json(in);
    statements stated;
    if (file.is_object() && file.contains("properties")) {
      stated = stated_in(file["properties"]);
      file.erase("properties");
    }
    bool const is_idempotent_only = taken_flag(file, "idempotent_only");
    plan_file read{reader(file).read(), std::move(stated)};
    read.plan.idempotent_only = is_idempotent_only;
    return read;
  } catch (schedule_error const& e) {
    throw refused(e);
  } catch (json::exception const& e) {
    throw refused(e);
  }
}

}  // namespace coset::schedule
