// SPDX-License-Identifier: Apache-2.0
#include "bindings/c/status.hpp"

#include <algorithm>
#include <array>
#include <new>
#include <string_view>

#include "base/text/format.hpp"

namespace coset::capi {
namespace {

/// Of fixed size: noting a failure must not fail.
thread_local std::array<char, 2048> message;
thread_local coset_status latest = COSET_SUCCESS;

template <class Error>
void raise(char const* text) {
  throw Error(text);
}

struct known_status {
  char const* name;
  void (*raise)(char const* text);
};

constexpr std::array<known_status, COSET_MPI_ERROR + 1> known{{{"COSET_SUCCESS", nullptr},
                                                               {"COSET_ARGUMENT_ERROR", raise<argument_error>},
                                                               {"COSET_TOPOLOGY_ERROR", raise<topology_error>},
                                                               {"COSET_MISMATCH_ERROR", raise<mismatch_error>},
                                                               {"COSET_SCHEDULE_ERROR", raise<schedule_error>},
                                                               {"COSET_ABORTED", raise<aborted>},
                                                               {"COSET_TIMED_OUT", raise<timed_out>},
                                                               {"COSET_BODY_FAILED", raise<body_failed>},
                                                               {"COSET_OUT_OF_MEMORY", raise<out_of_memory>},
                                                               {"COSET_UNKNOWN_ERROR", raise<error>},
                                                               {"COSET_MPI_ERROR", raise<mpi::error>}}};

coset_status noted(coset_status status, std::string_view text) noexcept {
  std::size_t const length = std::min(text.size(), message.size() - 1);
  std::copy_n(text.begin(), length, message.begin());
  message[length] = '\0';
  return latest = status;
}

}  // namespace

coset_status status_of_exception() noexcept {
  try {
    throw;
  } catch (argument_error const& e) {
    return noted(COSET_ARGUMENT_ERROR, e.what());
  } catch (topology_error const& e) {
    return noted(COSET_TOPOLOGY_ERROR, e.what());
  } catch (mismatch_error const& e) {
    return noted(COSET_MISMATCH_ERROR, e.what());
  } catch (schedule_error const& e) {
    return noted(COSET_SCHEDULE_ERROR, e.what());
  } catch (aborted const& e) {
    return noted(COSET_ABORTED, e.what());
  } catch (timed_out const& e) {
    return noted(COSET_TIMED_OUT, e.what());
  } catch (body_failed const& e) {
    return noted(COSET_BODY_FAILED, e.what());
  } catch (mpi::error const& e) {
    return noted(COSET_MPI_ERROR, e.what());
  } catch (out_of_memory const& e) {
    return noted(COSET_OUT_OF_MEMORY, e.what());
  } catch (std::bad_alloc const&) {
    return noted(COSET_OUT_OF_MEMORY, "out of memory");
  } catch (std::exception const& e) {
    return noted(COSET_UNKNOWN_ERROR, e.what());
  } catch (...) {
    return noted(COSET_UNKNOWN_ERROR, "an exception that is no std::exception");
  }
}

coset_status latest_failure() noexcept { return latest; }

void forget_failure() noexcept { latest = COSET_SUCCESS; }

void throw_latest_failure() {
  if (latest != COSET_SUCCESS) known[static_cast<std::size_t>(latest)].raise(message.data());
  throw error("nothing has failed");
}

void require(void const* pointer, char const* name) {
  if (pointer == nullptr) throw argument_error(text::format("{} is NULL", name));
}

}  // namespace coset::capi

using namespace coset::capi;

int32_t coset_version() { return COSET_VERSION; }

char const* coset_status_name(coset_status status) {
  auto const at = static_cast<std::size_t>(status);
  return at < known.size() ? known[at].name : "unknown status";
}

char const* coset_error_message() { return message.data(); }
