// SPDX-License-Identifier: Apache-2.0
// Teams: run() with a body of Python's, and reductions that need none.
#include <pybind11/stl.h>

#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/text/format.hpp"
#include "bindings/python/gil.hpp"
#include "bindings/python/members.hpp"
#include "bindings/python/module.hpp"
#include "bindings/python/signals.hpp"
#include "coset/error.hpp"
#include "coset/team.hpp"
#include "team/team_state.hpp"
#include "team/threads/workers.hpp"

namespace coset::python {
namespace {

/// How long run() waits for bodies that an interrupted run() has left behind, before it says so.
constexpr std::chrono::seconds patience_with_bodies(10);

/// More threads than any process has. Far more would use up the memory before the system refuses a thread.
constexpr rank_t most_ranks = 1 << 16;

/// A body has raised; what it was is for run().
struct raised_in_python : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// "KeyError: 'mine'"
std::string words_of(py::error_already_set const& raised) {
  auto name = py::str(raised.type().attr("__name__")).cast<std::string>();
  try {
    auto const said = py::str(raised.value()).cast<std::string>();
    return said.empty() ? name : name + ": " + said;
  } catch (py::error_already_set& by_str) {
    // A signal's handler may have run in it.
    if (by_str.matches(PyExc_KeyboardInterrupt)) PyErr_SetInterrupt();
    return name;
  }
}

/// One run() of a body, which may outlive the call: where a signal ends the wait for other ranks' bodies.
class body_run {
 public:
  body_run(rank_t ranks, py::function body, signal_watch& watch)
      : body_(std::move(body)), results_(ranks), watch_(&watch) {}

  /// On each rank.
  static void run_one(void* of, member& me) { static_cast<body_run*>(of)->run(me); }
  /// Whether the caller of run() goes on without the others' bodies.
  static bool leaves(void* of) noexcept {
    signal_watch& watch = *static_cast<body_run*>(of)->watch_;
    if (signal_watch::of_this_thread() == &watch) watch.look();
    return watch.has_waited_enough();
  }

  /// Throws what the first body to fail has raised.
  void raise_first() const {
    if (first_) throw py::error_already_set(*first_);
  }
  py::list results() {
    py::list all;
    for (py::object& each : results_) all.append(std::move(each));
    return all;
  }

 private:
  void run(member& me) {
    gil_held const held;
    awake_until_exit([&] { run_held(me); });
  }

  void run_held(member& me) {
    auto const given = std::make_shared<python_member>(me);
    try {
      results_[me.rank()] = returned(py::cast(given));
      given->end();
    } catch (py::error_already_set& raised) {
      given->end();
      // A signal that has come meanwhile says more than what other ranks have made of this one's verb.
      if (PyErr_CheckSignals() != 0) {
        raised = py::error_already_set();
        watch_->note_interrupt();
      }
      note(raised, me.rank());
      throw raised_in_python(words_of(raised));
    }
    if (me.rank() == 0) {
      watch_->forget_interrupt();
      watch_->begin_wait();
    }
  }

  /// What the body returns. No object of this function's own is destroyed without the GIL where the interpreter ends in it.
  py::object returned(py::object const& given) const {
    PyObject* const result =
        awake_until_exit([&] { return PyObject_CallFunctionObjArgs(body_.ptr(), given.ptr(), nullptr); });
    if (result == nullptr) throw py::error_already_set();
    return py::reinterpret_steal<py::object>(result);
  }

  /// Other ranks may raise what an interrupt has made of their verbs before rank 0 gets to here.
  void note(py::error_already_set const& raised, rank_t rank) {
    if (rank == 0) {
      if (raised.matches(PyExc_KeyboardInterrupt)) watch_->note_interrupt();
      if (watch_->was_interrupted()) first_.reset();
      watch_->begin_wait();
    }
    if (!first_) first_ = std::make_unique<py::error_already_set>(raised);
  }

  py::function body_;
  std::vector<py::object> results_;
  signal_watch* watch_;  ///< of the thread that is rank 0, for as long as that is in run()
  std::unique_ptr<py::error_already_set> first_;
};

class python_team {
 public:
  explicit python_team(team_options const& options) : ranks_(options) {}
  /// Bodies that still run need what they were given for as long as the process lives.
  ~python_team() {
    if (behind_ && !threads().have_ended()) static_cast<void>(behind_.release());
  }
  python_team(python_team const&) = delete;
  python_team& operator=(python_team const&) = delete;

  rank_t size() const noexcept { return ranks_.size(); }

  py::list run(py::function body) {
    if (size() > 1 && interpreter_ends())
      throw error("Team.run: the interpreter is ending, and other ranks' bodies cannot begin");
    wait_for_bodies_behind();
    signal_watch watch(ranks_);
    auto made = std::make_unique<body_run>(size(), std::move(body), watch);
    try {
      gil_released const others_go_on;
      if (!threads().run_or_leave(&body_run::run_one, made.get(), &body_run::leaves)) behind_.swap(made);
    } catch (raised_in_python const&) {
      // What it was follows.
    }
    watch.raise_if_interrupted();
    (behind_ ? behind_ : made)->raise_first();
    return made->results();
  }

  /// All ranks' arrays by one thread of Python: nobody needs the GIL.
  void allreduce(py::sequence const& arrays, std::string const& operation) {
    if (arrays.size() != size())
      throw argument_error(text::format("Team.allreduce: {} arrays for {} ranks", arrays.size(), size()));
    std::vector<elements> kept;
    std::vector<detail::call> calls;
    for (rank_t r = 0; r < size(); ++r) {
      std::string const name = text::format("arrays[{}]", r);
      kept.push_back(written_to(py::object(arrays[r]), {"Team.allreduce", name.c_str()}));
      calls.push_back(allreduce_call(kept.back(), operation));
    }
    wait_for_bodies_behind();
    signal_watch watch(ranks_);
    without_gil([&] { ranks_.run([&](member& me) { detail::run(me.state(), calls[me.rank()]); }); });
  }

 private:
  team_room::workers& threads() { return *ranks_.state().membership.workers; }

  void wait_for_bodies_behind() {
    auto const end = signal_watch::clock::now() + patience_with_bodies;
    while (behind_ && !threads().have_ended() && signal_watch::clock::now() < end) {
      {
        gil_released const others_go_on;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
      if (PyErr_CheckSignals() != 0) throw py::error_already_set();
    }
    if (behind_ && threads().have_ended()) behind_.reset();
  }

  team ranks_;
  std::unique_ptr<body_run> behind_;  ///< whose bodies run() has left behind
};

std::unique_ptr<python_team> make_team(py::object const& ranks, std::string const& place) {
  rank_t const wanted = ranks.is_none() ? 0 : whole_number(ranks, {"Team", "ranks"}, 1, most_ranks);
  for (auto const& [name, known] : {std::pair("compact", placement::compact), std::pair("scatter", placement::scatter),
                                    std::pair("unbound", placement::unbound)}) {
    if (place == name) return std::make_unique<python_team>(team_options{.ranks = wanted, .place = known});
  }
  throw argument_error(text::format("Team: placement is {}; there are compact, scatter and unbound", place));
}

}  // namespace

void add_teams(py::module_& m) {
  using namespace pybind11::literals;
  py::class_<python_team>(m, "Team", "Threads as ranks, pinned unless placement is 'unbound'.")
      .def(py::init(&make_team), "ranks"_a = py::none(), "placement"_a = "compact", "None: one rank per core.")
      .def_property_readonly("size", &python_team::size)
      .def("run", &python_team::run, "body"_a,
           "Calls body(member) on every rank and returns the results, one per rank. Bodies share the GIL; collectives "
           "and what numpy does without it run at once. The first exception aborts the team and is raised here. "
           "On Python's main thread Ctrl-C ends a wait for other ranks.")
      .def("allreduce", &python_team::allreduce, "arrays"_a, "op"_a = "plus",
           "Reduces one array per rank in place, without the GIL: each gets the total.");
  m.def(
      "end_idle_teams", [] { without_gil([] { end_idle_teams(); }); },
      "Ends the threads of teams that have ended, which wait a while for the next team alike.");
}

}  // namespace coset::python
