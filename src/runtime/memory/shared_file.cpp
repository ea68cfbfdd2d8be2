// SPDX-License-Identifier: Apache-2.0
#include "runtime/memory/shared_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <string_view>
#include <utility>

#include "base/text/format.hpp"
#include "base/text/log.hpp"
#include "numa/quota.hpp"

namespace coset::runtime {
namespace {

/// A directory in memory, which processes of one host share unless they are in containers.
constexpr char const* directory = "/dev/shm";

std::string word_of(shared_file::name const& of) {
  auto const& n = of.number;
  return text::format("coset-{:08x}{:08x}{:08x}{:08x}", n[0], n[1], n[2], n[3]);
}

std::string path_of(shared_file::name const& of) {
  return of.process == 0 ? text::format("{}/{}", directory, word_of(of))
                         : text::format("/proc/{}/fd/{}", of.process, of.descriptor);
}

/// Why processes share less than they could, where somebody asks.
void tell(char const* what) {
  if (text::plans_are_logged()) text::complain(text::format("{}: {}", what, std::strerror(errno)));
}

class open_file {
 public:
  open_file(std::string const& path, int how) : number_(open(path.c_str(), how | O_CLOEXEC, 0600)) {}
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

/// Beyond the limit of a process's files there is a signal, SIGXFSZ. The other half of what is free is the program's.
std::uint64_t room_for(passing how) {
  rlimit longest{};
  if (getrlimit(RLIMIT_FSIZE, &longest) != 0) return 0;
  std::uint64_t room = longest.rlim_cur;
  if (how == passing::by_descriptor)
    return std::min(room, static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) * numa::page_bytes() / 2);
  struct statvfs found {};
  if (statvfs(directory, &found) != 0) return 0;
  if (bool const is_limited = found.f_blocks != 0; is_limited)
    room = std::min(room, std::uint64_t{found.f_bavail} * found.f_frsize / 2);
  return std::min(room, numa::free_memory() / 2);
}

/// Elsewhere a memfd's page is never refused: who finds no memory for it, here or in fallocate, meets the OOM killer.
bool promises_are_counted() {
  open_file const policy("/proc/sys/vm/overcommit_memory", O_RDONLY);
  char digit = '0';
  return read(policy.number(), &digit, 1) == 1 && digit == '2';
}

/// Places all pages now, on all nodes in turn, as the maker does not know who will use which. Any signal makes
/// kernels before 6.10 undo their work and fail: signals wait meanwhile.
bool reserve(int file, std::size_t bytes) {
  numa::memory::shared(file, bytes).interleave();
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  errno = posix_fallocate(file, 0, static_cast<off_t>(bytes));
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return errno == 0;
}

bool extend(int file, std::size_t bytes, bool reserved) {
  return ftruncate(file, static_cast<off_t>(bytes)) == 0 && (!reserved || reserve(file, bytes));
}

/// Another container's process may have the same number: what is not ours is not opened.
bool is_there(shared_file::name const& of, std::string const& path) {
  char target[64];
  ssize_t const length = readlink(path.c_str(), target, sizeof target);
  if (length < 0) return false;
  errno = ENOENT;
  return std::string_view(target, static_cast<std::size_t>(length)).find(word_of(of)) != std::string_view::npos;
}

}  // namespace

shared_file::shared_file(shared_file&& other) noexcept : name_(std::exchange(other.name_, {})) {}

shared_file& shared_file::operator=(shared_file&& other) noexcept {
  std::swap(name_, other.name_);
  return *this;
}

/// Containers may share the directory, but count processes for themselves: names are random.
shared_file shared_file::make(std::size_t bytes, passing how) noexcept try {
  bool const is_memfd = how == passing::by_descriptor, has_room = bytes <= room_for(how);
  std::random_device number;
  name const wanted{{number(), number(), number(), number() | 1}};
  errno = ENOSPC;
  shared_file made;
  if (has_room) made = is_memfd ? as_memfd(wanted, bytes) : in_directory(wanted, bytes);
  if (made.empty()) tell(is_memfd ? "no memfd to share memory by" : "no file in /dev/shm to share memory by");
  return made;
} catch (std::exception const&) {
  return {};
}

shared_file shared_file::as_memfd(name wanted, std::size_t bytes) {
  wanted.process = static_cast<std::uint32_t>(getpid());
  wanted.descriptor = memfd_create(word_of(wanted).c_str(), MFD_CLOEXEC);
  if (wanted.descriptor < 0) return {};
  shared_file made(wanted);
  return extend(wanted.descriptor, bytes, promises_are_counted()) ? std::move(made) : shared_file();
}

shared_file shared_file::in_directory(name const& wanted, std::size_t bytes) {
  open_file const file(path_of(wanted), O_RDWR | O_CREAT | O_EXCL);
  if (!file) return {};
  shared_file made(wanted);
  return extend(file.number(), bytes, true) ? std::move(made) : shared_file();
}

void shared_file::remove() noexcept {
  if (empty()) return;
  try {
    if (name_.process != 0) {
      close(name_.descriptor);
    } else {
      unlink(path_of(name_).c_str());
    }
  } catch (std::bad_alloc const&) {
    // The name stays.
  }
  name_ = {};
}

numa::memory shared_file::mapped(name const& of, std::size_t bytes) noexcept try {
  std::string const path = path_of(of);
  if (of.process == 0 || is_there(of, path)) {
    if (open_file const file(path, O_RDWR); file) return numa::memory::shared(file.number(), bytes);
  }
  tell("memory of another process cannot be opened");
  return {};
} catch (std::exception const&) {
  return {};
}

}  // namespace coset::runtime
