// SPDX-License-Identifier: Apache-2.0
// The GIL, taken and given by threads that may meet the interpreter's end there.
#pragma once

#include <pybind11/pybind11.h>

#include <cxxabi.h>
#include <unistd.h>

#include <utility>

namespace coset::python {

namespace py = pybind11;

/// For a thread that the interpreter's end has met: the process is about to end.
[[noreturn]] inline void sleep_until_exit() noexcept {
  for (;;) pause();
}

inline bool interpreter_ends() noexcept {
#if PY_VERSION_HEX >= 0x030D0000
  return Py_IsFinalizing() != 0 || Py_IsInitialized() == 0;
#else
  return _Py_IsFinalizing() != 0 || Py_IsInitialized() == 0;
#endif
}

/// Calls what takes the GIL, or runs code of Python's that does. When the interpreter ends, all versions up to 3.13 have
/// every other thread that comes there unwind its stack and exit. A rank's thread sleeps instead: other ranks may use what
/// is on its stack, and functions below it are noexcept.
template <class Call>
auto awake_until_exit(Call call) {
  try {
    return call();
  } catch (abi::__forced_unwind const&) {
    sleep_until_exit();
  }
}

/// Held by a thread that has none of Python's frames, or has released it.
class gil_held {
 public:
  gil_held() {
    if (PyGILState_GetThisThreadState() == nullptr && interpreter_ends()) sleep_until_exit();
    state_ = awake_until_exit([] { return PyGILState_Ensure(); });
  }
  ~gil_held() { PyGILState_Release(state_); }
  gil_held(gil_held const&) = delete;
  gil_held& operator=(gil_held const&) = delete;

 private:
  PyGILState_STATE state_;
};

/// Released by a thread that holds it.
class gil_released {
 public:
  gil_released() : thread_(PyEval_SaveThread()) {}
  ~gil_released() {
    awake_until_exit([this] { PyEval_RestoreThread(thread_); });
  }
  gil_released(gil_released const&) = delete;
  gil_released& operator=(gil_released const&) = delete;

 private:
  PyThreadState* thread_;
};

}  // namespace coset::python
