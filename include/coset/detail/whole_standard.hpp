// SPDX-License-Identifier: Apache-2.0
// For standard libraries of which standard_parts.hpp knows no parts.
#pragma once

#include <chrono>
#include <complex>
#include <ranges>
