// SPDX-License-Identifier: Apache-2.0
// `coset` itself, which starts coset-lab for what is missing here.
#include "command/lab.hpp"

namespace coset::cli {

laboratory const* const lab = nullptr;

}  // namespace coset::cli
