// SPDX-License-Identifier: Apache-2.0
#include "runtime/memory/shared_file.hpp"

#include <fcntl.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <new>
#include <random>
#include <string>
#include <utility>

#include "text/format.hpp"

namespace coset::runtime {
namespace {

std::string path_of(shared_file::name const& of) {
  return text::format("{}/coset-{:08x}{:08x}{:08x}{:08x}", directory_of_shared_files, of[0], of[1], of[2], of[3]);
}

class open_file {
 public:
  open_file(shared_file::name const& of, int how)
      : number_(open(path_of(of).c_str(), how | O_RDWR | O_CLOEXEC, 0600)) {}
  ~open_file() {
    if (number_ >= 0) close(number_);
  }
  open_file(open_file const&) = delete;
  open_file& operator=(open_file const&) = delete;
  explicit operator bool() const noexcept { return number_ >= 0; }
  int number() const noexcept { return number_; }

 private:
  int const number_;
};

}  // namespace

std::uint64_t room_for_shared_files() {
  struct statvfs found {};
  if (statvfs(directory_of_shared_files, &found) != 0) return 0;
  return std::uint64_t{found.f_bavail} * found.f_frsize / 2;
}

shared_file::shared_file(shared_file&& other) noexcept : name_(std::exchange(other.name_, {})) {}

shared_file& shared_file::operator=(shared_file&& other) noexcept {
  std::swap(name_, other.name_);
  return *this;
}

/// Containers may share the directory, but count processes for themselves: names are random.
shared_file shared_file::make(std::size_t bytes) {
  std::random_device number;
  shared_file made;
  name const wanted{number(), number(), number(), number() | 1};
  open_file const file(wanted, O_CREAT | O_EXCL);
  if (!file) return made;
  made.name_ = wanted;
  if (ftruncate(file.number(), static_cast<off_t>(bytes)) != 0) made.remove();
  return made;
}

void shared_file::remove() noexcept {
  if (empty()) return;
  try {
    unlink(path_of(name_).c_str());
  } catch (std::bad_alloc const&) {
    // The name stays.
  }
  name_ = {};
}

numa::memory shared_file::mapped(name const& of, std::size_t bytes) {
  open_file const file(of, 0);
  if (!file) return {};
  try {
    return numa::memory::shared(file.number(), bytes);
  } catch (std::bad_alloc const&) {
    return {};
  }
}

}  // namespace coset::runtime
