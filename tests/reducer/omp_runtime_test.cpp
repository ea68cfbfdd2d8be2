// SPDX-License-Identifier: Apache-2.0
// That these tests run on the OpenMP runtime that they were linked for, COSET_OPENMP_RUNTIME, and on no other.
#include <gtest/gtest.h>
#include <link.h>

#include <string>
#include <string_view>
#include <vector>

namespace coset::reducer_test {
namespace {

/// The runtimes among this process's shared libraries, as linkers know them: gomp, omp, iomp5.
std::vector<std::string> loaded_runtimes() {
  std::vector<std::string> found;
  dl_iterate_phdr(
      [](dl_phdr_info* library, std::size_t, void* into) {
        std::string_view const path = library->dlpi_name;
        for (std::string const name : {"gomp", "omp", "iomp5"})
          if (path.find("/lib" + name + ".so") != path.npos)
            static_cast<std::vector<std::string>*>(into)->push_back(name);
        return 0;
      },
      &found);
  return found;
}

TEST(OmpRuntime, IsTheOneOfThisTest) { EXPECT_EQ(loaded_runtimes(), std::vector<std::string>{COSET_OPENMP_RUNTIME}); }

}  // namespace
}  // namespace coset::reducer_test
