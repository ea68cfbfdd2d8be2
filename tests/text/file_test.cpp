// SPDX-License-Identifier: Apache-2.0
// Files that others wrote: read whole, or refused without waiting for anybody.
#include "base/text/file.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "coset/error.hpp"

namespace coset::text {
namespace {

class ForeignFile : public ::testing::Test {
 protected:
  ForeignFile() {
    std::string name = ::testing::TempDir() + "coset-file-XXXXXX";
    folder_ = mkdtemp(name.data());
  }
  ~ForeignFile() override { std::filesystem::remove_all(folder_); }

  std::string written(std::string const& content) const {
    std::ofstream(folder_ + "/file", std::ios::binary) << content;
    return folder_ + "/file";
  }

  std::string folder_;
};

TEST_F(ForeignFile, IsReadWhole) {
  for (std::string const& content : {std::string(), std::string("a\0b\n", 4), std::string(100'000, 'x')}) {
    auto const read = read_file(written(content));
    EXPECT_EQ(read.text, content);
    EXPECT_EQ(read.refusal, "");
  }
  EXPECT_EQ(refusal_of_file(written("a")), "");
  EXPECT_NE(read_file("/proc/self/status").text, "");  // whose size is said to be 0
}

/// Hangs if a pipe is waited for, or a device read to its end.
TEST_F(ForeignFile, ThatIsNoneIsRefused) {
  std::string const pipe = folder_ + "/pipe", absent = folder_ + "/absent";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  std::pair<std::string, std::string> const all[] = {{folder_, "is a directory"},
                                                     {pipe, "is a pipe or device, not a file"},
                                                     {"/dev/zero", "is a pipe or device, not a file"},
                                                     {absent, "cannot be read: No such file or directory"},
                                                     {"", "cannot be read: No such file or directory"}};
  for (auto const& [path, refusal] : all) {
    EXPECT_EQ(read_file(path).refusal, refusal) << path;
    EXPECT_EQ(read_file(path).text, "") << path;
    EXPECT_EQ(refusal_of_file(path), refusal) << path;
  }
}

TEST_F(ForeignFile, ThatIsTooLongIsRefused) {
  EXPECT_EQ(read_file(written("12345"), 5).text, "12345");
  EXPECT_EQ(read_file(written("123456"), 5).refusal, "has 6 bytes, at most 5 are read");
  EXPECT_EQ(read_file("/proc/self/status", 5).refusal, "has more than 5 bytes");
}

TEST_F(ForeignFile, IsCalledByItsNameInErrors) {
  EXPECT_EQ(content_of<argument_error>(written("text"), "the file"), "text");
  try {
    (void)content_of<schedule_error>(folder_, "plan 'x'");
    FAIL();
  } catch (schedule_error const& e) {
    EXPECT_STREQ(e.what(), "plan 'x' is a directory");
  }
}

}  // namespace
}  // namespace coset::text
