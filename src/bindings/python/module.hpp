// SPDX-License-Identifier: Apache-2.0
// The parts of the module.
#pragma once

#include <pybind11/pybind11.h>

namespace coset::python {

void add_members(pybind11::module_&);
void add_teams(pybind11::module_&);
void add_schedules(pybind11::module_&);
void add_updates(pybind11::module_&);
void add_histogram(pybind11::module_&);

}  // namespace coset::python
