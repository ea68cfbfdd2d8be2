// SPDX-License-Identifier: Apache-2.0
// Where and with what a measurement was made.
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace coset::cli {

/// Version and commit of coset, date, host, processor, kernel, compiler with its flags, the instruction set in use, and
/// the environment variables that coset reads and that are set.
nlohmann::ordered_json run_facts();

}  // namespace coset::cli
