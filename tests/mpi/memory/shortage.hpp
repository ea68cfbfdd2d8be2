// SPDX-License-Identifier: Apache-2.0
// /dev/shm fills, memfds are refused: what tests do to processes that share memory. Knows nothing of coset.
#pragma once

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <mpi.h>
#include <sys/prctl.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <fstream>
#include <set>
#include <stdexcept>
#include <string>

namespace coset::mpi_test {

enum class mechanism { memfd, file };
enum class moment { before_founding, before_the_long_call, between_long_calls };

inline char const* name_of(mechanism how) { return how == mechanism::memfd ? "memfd" : "file"; }
inline char const* name_of(moment when) {
  return when == moment::before_founding        ? "before_founding"
         : when == moment::before_the_long_call ? "before_the_long_call"
                                                : "between_long_calls";
}

inline std::uint64_t bytes_of_shm() {
  struct statvfs found {};
  return statvfs("/dev/shm", &found) == 0 ? std::uint64_t{found.f_blocks} * found.f_frsize : UINT64_MAX;
}

/// Only in a /dev/shm of one's own (see small_shm): others would be killed.
inline bool shm_is_ours() { return bytes_of_shm() <= 32 << 20; }

/// No byte of /dev/shm is free as long as this is.
class full_shm {
 public:
  full_shm() : file_(open("/dev/shm/other", O_RDWR | O_CREAT | O_CLOEXEC, 0600)) {
    if (!shm_is_ours()) throw std::logic_error("this /dev/shm is not ours");
    std::string const page(4096, 'x');
    while (write(file_, page.data(), page.size()) > 0) continue;
    if (errno != ENOSPC) throw std::logic_error("/dev/shm cannot be filled");
  }
  ~full_shm() {
    unlink("/dev/shm/other");
    close(file_);
  }
  full_shm(full_shm const&) = delete;
  full_shm& operator=(full_shm const&) = delete;

 private:
  int const file_;
};

/// For good, in all threads: as a kernel or a container without it.
inline void refuse_memfds() {
  sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_memfd_create, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  sock_fprog const filter{4, code};
  static bool const done = prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
                           syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &filter) == 0;
  if (!done) throw std::logic_error("memfds cannot be refused");
}

/// What coset has mapped in this process to share with others, by a memfd or by a file. No name is used again.
inline std::set<std::string> windows(mechanism how) {
  std::string const wanted = how == mechanism::memfd ? "/memfd:coset-" : "/dev/shm/coset-";
  std::set<std::string> names;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    if (auto const at = line.find(wanted); at != std::string::npos) names.insert(line.substr(at));
  }
  return names;
}

/// A communicator that has left nothing to the teams that are made of it.
class fresh_world {
 public:
  fresh_world() { MPI_Comm_dup(MPI_COMM_WORLD, &own_); }
  ~fresh_world() { MPI_Comm_free(&own_); }
  fresh_world(fresh_world const&) = delete;
  fresh_world& operator=(fresh_world const&) = delete;
  MPI_Comm get() const { return own_; }

 private:
  MPI_Comm own_ = MPI_COMM_NULL;
};

}  // namespace coset::mpi_test
