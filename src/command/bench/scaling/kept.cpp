// SPDX-License-Identifier: Apache-2.0
#include "command/bench/scaling/kept.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/text/file.hpp"
#include "command/bench/scaling/derived.hpp"

namespace coset::cli {
namespace {

using nlohmann::ordered_json;

/// What tables and pages show of a run without looking whether it is there.
bool is_run(ordered_json const& run) {
  auto const has = [&](char const* key, auto is) { return run.contains(key) && is(run[key]); };
  auto const text = [](ordered_json const& value) { return value.is_string(); };
  auto const number = [](ordered_json const& value) { return value.is_number(); };
  auto const all = [&](std::initializer_list<char const*> keys, auto is) {
    return std::ranges::all_of(keys, [&](char const* key) { return has(key, is); });
  };
  return run.is_object() && all({"place", "verb", "timing", "state", "beyond_cores"}, text) &&
         all({"ranks", "size", "asked_size", "rounds", "wrong", "moved_bytes", "call_bytes", "ranks_of_cache"},
             number) &&
         has("on_nodes", [](ordered_json const& value) { return value.is_array(); }) && run.contains("beside");
}

bool is_whole(ordered_json const& file) {
  auto const has_array = [&](char const* key) { return file.contains(key) && file[key].is_array(); };
  return has_array("runs") && has_array("streams") && has_array("reducers") && file.contains("machine") &&
         file.contains("asked") && std::ranges::all_of(file["runs"], is_run);
}

}  // namespace

ordered_json scaling_file(std::string const& name) try {
  auto found = ordered_json::parse(text::content_of<argument_error>(name, name), nullptr, false);
  if (!found.is_object() || !found.contains("coset_scaling"))
    throw argument_error(fmt::format("'{}' is no file of coset bench --scaling --json", name));
  if (found["coset_scaling"] == 1 && found.contains("version"))
    throw argument_error(fmt::format("'{}' is a file of an earlier coset bench --scaling: measure again", name));
  if (!is_whole(found)) throw argument_error(fmt::format("'{}' is no file of coset bench --scaling --json", name));
  derive_all(found);
  return found;
} catch (ordered_json::exception const& wrong) {
  throw argument_error(fmt::format("'{}' is no file of coset bench --scaling --json: {}", name, wrong.what()));
}

ordered_json asked_json(scaling_request const& of) {
  auto verbs = ordered_json::array();
  for (verb const what : of.verbs) verbs.push_back(name_of(what));
  return {{"verbs", verbs},
          {"sizes", of.sizes},
          {"type", measure::name_of(of.element)},
          {"most_ranks", of.most_ranks},
          {"rounds", of.options.rounds},
          {"iterations", of.options.iterations},
          {"warmup", of.options.warmup}};
}

scaling_request request_of(ordered_json const& file) {
  auto const& asked = file.at("asked");
  scaling_request made;
  made.verbs.clear();
  for (auto const& name : asked.at("verbs")) made.verbs.push_back(verb_named(name.get<std::string>()));
  if (made.verbs.empty()) throw argument_error("a file of coset bench --scaling without a verb");
  made.element = measure::element_named(asked.at("type").get<std::string>());
  asked.at("sizes").get_to(made.sizes);
  asked.at("most_ranks").get_to(made.most_ranks);
  asked.at("rounds").get_to(made.options.rounds);
  asked.at("iterations").get_to(made.options.iterations);
  asked.at("warmup").get_to(made.options.warmup);
  return made;
}

void require_same(ordered_json const& file, ordered_json const& now, std::string const& name) {
  for (auto const* const key : {"host", "processor", "version", "commit", "instruction_set", "machine"}) {
    auto const there = file.value(key, ordered_json()), here = now.value(key, ordered_json());
    if (there == here) continue;
    auto const text = [](ordered_json const& of) { return of.is_string() ? of.get<std::string>() : of.dump(); };
    throw argument_error(
        fmt::format("'{}' cannot be resumed here: its {} is {}, here it is {}", name, key, text(there), text(here)));
  }
}

}  // namespace coset::cli
