// SPDX-License-Identifier: Apache-2.0
// System calls that fail from now on, as under a container's seccomp filter or a limit. For children of a test: there is no
// way back.
#pragma once

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <array>
#include <cstddef>
#include <cstdio>
#include <cstdlib>

namespace coset::test {

/// The call numbered `number` fails with `error` in this thread and all that it starts.
inline void forbid(long number, int error) {
  std::array<sock_filter, 4> steps{
      sock_filter BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      sock_filter BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<unsigned>(number), 0, 1),
      sock_filter BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (static_cast<unsigned>(error) & SECCOMP_RET_DATA)),
      sock_filter BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  sock_fprog const filter{steps.size(), steps.data()};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0) return;
  std::perror("seccomp");
  std::_Exit(99);
}

}  // namespace coset::test
