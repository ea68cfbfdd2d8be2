// SPDX-License-Identifier: Apache-2.0
// Variables of the environment that begin with COSET_: which there are, and what is wrong with those that are set.
#pragma once

#include <string>
#include <vector>

namespace coset::choice {

/// One line for each of these settings ("NAME=value") that nothing reads as it stands: names that are none of coset's, with
/// the nearest that is one, and words that their variable does not take. Those that do not begin with COSET_ are not
/// looked at. What makes a team impossible is no line but an exception of whoever reads it.
std::vector<std::string> wrong_settings(std::vector<std::string> const& environment);

/// The same of this process's environment, on standard error, once in its life. Throws argument_error if COSET_ISA names
/// no instruction set of this machine.
void name_wrong_settings_once();

}  // namespace coset::choice
