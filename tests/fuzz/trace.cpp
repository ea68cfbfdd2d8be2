// SPDX-License-Identifier: Apache-2.0
// Traces: refused naming the file, or told in words and written again.
#include "answers.hpp"
#include "command/trace/read.hpp"
#include "command/trace/summary.hpp"
#include "runtime/trace/log.hpp"

namespace {

using namespace coset;

void run(std::string_view input) {
  test::memory_file const file(input);
  trace::log const found = cli::read_trace(file.name());
  test::demand(!cli::summary_of(found).empty(), "what was read can be told");
  trace::json_of(cli::merged({found}));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  coset::test::answers([&] { run(coset::test::text_of(data, size)); });
  return 0;
}
