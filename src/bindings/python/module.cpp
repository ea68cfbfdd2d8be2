// SPDX-License-Identifier: Apache-2.0
#include "bindings/python/module.hpp"

#include "bindings/python/arrays.hpp"
#include "bindings/python/signals.hpp"
#include "coset/error.hpp"

PYBIND11_MODULE(coset, m) {
  namespace py = pybind11;
  using namespace coset;
  m.doc() = "Reductions over numpy arrays by the threads of one machine, and the schedules behind them.";
  m.attr("__version__") = COSET_MODULE_VERSION;
  // Those that are registered later are tried first.
  auto const base = py::register_exception<error>(m, "Error", PyExc_RuntimeError);
  py::register_exception<argument_error>(m, "ArgumentError", base);
  py::register_exception<topology_error>(m, "TopologyError", base);
  py::register_exception<mismatch_error>(m, "MismatchError", base);
  py::register_exception<schedule_error>(m, "ScheduleError", base);
  py::register_exception<aborted>(m, "Aborted", base);
  py::register_exception<timed_out>(m, "TimedOut", base);
  py::register_exception<out_of_memory>(m, "OutOfMemory", py::make_tuple(base, py::handle(PyExc_MemoryError)));
  python::prepare_arrays();
  python::prepare_signals();
  python::add_members(m);
  python::add_teams(m);
  python::add_schedules(m);
  python::add_updates(m);
  python::add_histogram(m);
}
