// SPDX-License-Identifier: Apache-2.0
// The page's files: page_files.cpp.in becomes a source with their text.
#pragma once

#include <string_view>

namespace coset::schedule::page_files {

extern std::string_view const style;
extern std::string_view const body;
extern std::string_view const program;

}  // namespace coset::schedule::page_files
