// SPDX-License-Identifier: Apache-2.0
// Schedules for notebooks: as arrays, text, pictures and JSON; proved; priced by a model.
#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <cmath>
#include <cstdint>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "base/text/format.hpp"
#include "bindings/python/members.hpp"
#include "bindings/python/module.hpp"
#include "command/shown/draw.hpp"
#include "command/shown/selector.hpp"
#include "planning/schedule/core/required.hpp"
#include "planning/schedule/core/validate.hpp"
#include "planning/schedule/files/plan_json.hpp"
#include "planning/schedule/model/cost.hpp"
#include "planning/schedule/registry/algorithm.hpp"

namespace coset::python {
namespace {

namespace py = pybind11;
using column = std::vector<std::int64_t>;

double required_bytes(char const* function, double bytes) {
  if (bytes >= 0 && std::isfinite(bytes)) return bytes;
  throw argument_error(text::format("{}: {} is no number of bytes", function, bytes));
}

/// A schedule that has been proved.
class proved {
 public:
  explicit proved(schedule::schedule of) : plan_(std::move(of)), found_(schedule::validate(plan_)) {}

  static proved named(std::string const& algorithm, py::object const& ranks, std::string const& verb,
                      py::object const& root) {
    return proved(schedule::make(schedule::algorithm::parse(algorithm), whole_number(ranks, {"Schedule", "ranks"}, 1),
                                 schedule::scheduled_verb(verb), whole_number(root, {"Schedule", "root"}, 0)));
  }
  static proved from_json(std::string const& text) {
    std::istringstream in(text);
    auto file = schedule::read_plan(in, "the text");
    proved made(std::move(file.plan));
    if (auto const wrong = schedule::contradictions(file.stated, made.found_); !wrong.empty())
      throw schedule_error("in the properties, " + wrong.front());
    return made;
  }

  schedule::schedule const& plan() const { return plan_; }

  std::string name() const { return schedule::algorithm{plan_.algorithm, plan_.parameters}.text(); }
  std::string json() const {
    std::ostringstream out;
    schedule::write_plan(out, plan_, found_);
    return out.str();
  }

  py::dict properties() const {
    auto const exact = [](schedule::fraction const& of) {
      return py::module_::import("fractions").attr("Fraction")(of.text());
    };
    py::dict all;
    all["steps"] = found_.steps;
    all["sent_max"] = exact(found_.sent_max);
    all["received_max"] = exact(found_.received_max);
    all["combined_max"] = exact(found_.combined_max);
    all["volume_bound"] = exact(found_.volume_bound);
    all["fan_in"] = found_.fan_in;
    all["rank_uniform"] = found_.rank_uniform;
    all["ordered"] = found_.ordered;
    return all;
  }

  py::dict reads() const {
    column step, rank, block, slot, source_rank, source_slot;
    for (std::size_t s = 0; s < plan_.steps.size(); ++s) {
      for (schedule::assignment const& made : plan_.steps[s]) {
        for (schedule::source const& from : plan_.from(made)) {
          step.push_back(static_cast<std::int64_t>(s));
          rank.push_back(made.rank);
          block.push_back(made.block);
          slot.push_back(made.slot);
          source_rank.push_back(from.rank);
          source_slot.push_back(from.slot);
        }
      }
    }
    py::dict all;
    auto const put = [&all](char const* called, column const& values) {
      all[called] = py::array_t<std::int64_t>(static_cast<py::ssize_t>(values.size()), values.data());
    };
    put("step", step);
    put("rank", rank);
    put("block", block);
    put("slot", slot);
    put("source_rank", source_rank);
    put("source_slot", source_slot);
    return all;
  }

  py::array_t<std::int64_t> result() const {
    py::array_t<std::int64_t> all({std::size_t{plan_.ranks}, plan_.blocks.size()});
    auto to = all.mutable_unchecked<2>();
    for (rank_t r = 0; r < plan_.ranks; ++r) {
      for (std::size_t b = 0; b < plan_.blocks.size(); ++b) {
        schedule::slot_t const slot = plan_.result[r][b];
        to(r, static_cast<py::ssize_t>(b)) = slot == schedule::no_slot ? -1 : std::int64_t{slot};
      }
    }
    return all;
  }

  py::object cost(py::array_t<double> const& bytes, double alpha, double beta, double gamma) const {
    auto const model = schedule::cost_model::flat(alpha, beta, gamma);
    schedule::counts const work(plan_, model);
    return py::vectorize([&](double of) { return work.seconds(required_bytes("cost", of)); })(bytes);
  }

 private:
  schedule::schedule plan_;
  schedule::properties found_;
};

py::list algorithms() {
  py::list all;
  for (schedule::named_algorithm const& row : schedule::registry()) {
    py::dict one, parameters;
    std::vector<std::string> verbs;
    for (auto const verb : row.verbs) verbs.emplace_back(name_of(verb));
    for (auto const& each : row.parameters) parameters[each.name.c_str()] = each.meaning;
    one["name"] = row.name;
    one["summary"] = row.summary;
    one["source"] = row.source;
    one["verbs"] = verbs;
    one["parameters"] = parameters;
    all.append(one);
  }
  return all;
}

std::vector<std::pair<std::string, double>> compare(py::object const& of_ranks, double bytes, std::string const& verb,
                                                    double alpha, double beta, double gamma, bool same_bits,
                                                    bool commutative) {
  rank_t const ranks = whole_number(of_ranks, {"compare", "ranks"}, 1);
  schedule::require_room(ranks, 1);
  required_bytes("compare", bytes);
  schedule::demand const wanted{schedule::scheduled_verb(verb), ranks, 0, same_bits, commutative};
  auto const model = schedule::cost_model::flat(alpha, beta, gamma);
  schedule::level_machine const on(ranks, model);
  schedule::selector const all(wanted, on, with_best_blocks(candidates_for(wanted, model), wanted, on, bytes));
  std::vector<std::pair<std::string, double>> order;
  for (auto const& [one, seconds] : all.rank(bytes)) order.emplace_back(one->how.text(), seconds);
  return order;
}

}  // namespace

void add_schedules(py::module_& m) {
  using namespace pybind11::literals;
  py::class_<proved>(m, "Schedule", "Which rank folds which pieces in which step; proved when it is made.")
      .def(py::init(&proved::named), "algorithm"_a, "ranks"_a, "verb"_a = "allreduce", "root"_a = 0,
           "'ring', 'generalized(radix=4,saved_steps=1)', …; algorithms() has all.")
      .def_static("from_json", &proved::from_json, "text"_a,
                  "Plan JSON. Raises ScheduleError with the first violation if it does not do what its verb requires.")
      .def_property_readonly("name", &proved::name)
      .def_property_readonly("ranks", [](proved const& of) { return of.plan().ranks; })
      .def_property_readonly("verb", [](proved const& of) { return std::string(name_of(of.plan().verb)); })
      .def_property_readonly("properties", &proved::properties,
                             "Steps, volumes in vectors as exact fractions, and what the schedule keeps.")
      .def("reads", &proved::reads,
           "Columns, a row for each value that is read: in this step this rank's (block, slot) takes in that of a "
           "source.")
      .def_property_readonly("result", &proved::result,
                             "[rank, block]: the slot with the result, -1 where there is none.")
      .def("cost", &proved::cost, "bytes"_a, "alpha"_a = 3e-5, "beta"_a = 1e-8, "gamma"_a = 2e-10,
           "Seconds for vectors of these bytes: alpha per step, beta per byte read, gamma per byte combined.")
      .def("json", &proved::json)
      .def("text", [](proved const& of) { return schedule::draw_text(of.plan()); })
      .def("dot", [](proved const& of) { return schedule::draw_dot(of.plan()); })
      .def("svg", [](proved const& of) { return schedule::draw_svg(of.plan()); })
      .def("_repr_svg_", [](proved const& of) { return schedule::draw_svg(of.plan()); })
      .def("__repr__", [](proved const& of) {
        return text::format("<coset.Schedule {} of {} on {} ranks>", of.name(), name_of(of.plan().verb),
                            of.plan().ranks);
      });
  m.def("algorithms", &algorithms, "What there is: name, summary, source, verbs and parameters of each.");
  m.def("compare", &compare, "ranks"_a, "bytes"_a, "verb"_a = "allreduce", "alpha"_a = 3e-5, "beta"_a = 1e-8,
        "gamma"_a = 2e-10, "same_bits"_a = true, "commutative"_a = true,
        "(algorithm, seconds) of all that serve, the fastest first, as the model has it.");
}

}  // namespace coset::python
