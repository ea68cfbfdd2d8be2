// SPDX-License-Identifier: Apache-2.0
// Requests. No destructor runs for a request in a coset_request: one that is complete, or given up, is overwritten with
// zeros, which is a complete request.
#include "coset/request.hpp"

#include <chrono>
#include <new>
#include <utility>

#include "bindings/c/arguments.hpp"
#include "bindings/c/options.hpp"
#include "bindings/c/status.hpp"
#include "runtime/requests.hpp"

namespace coset::capi {
namespace {

request& in(coset_request* at) {
  require(at, "the request");
  return *std::launder(reinterpret_cast<request*>(at->opaque));
}

}  // namespace

void put(request&& made, coset_request* at) {
  static_assert(sizeof(request) <= sizeof(coset_request) && alignof(request) <= alignof(coset_request));
  *at = {};
  new (at->opaque) request(std::move(made));
}

bool may_start(coset_member* me) { return runtime::may_launch(state_of(me)); }

bool has_failed(coset_member* me) noexcept { return me->of->state().shared.failed(); }

bool takes_turns(coset_member* me) {
  auto const& shared = state_of(me).shared;
  return shared.kind.crowded || shared.part.crowded;
}

}  // namespace coset::capi

using namespace coset::capi;

coset_status coset_request_test(coset_request* request, bool* complete) {
  return guarded([&] {
    require(complete, "the place for an answer");
    *complete = in(request).test();
    if (*complete) *request = {};
  });
}

coset_status coset_request_wait(coset_request* request) {
  return guarded([&] {
    in(request).wait();
    *request = {};
  });
}

coset_status coset_request_wait_for(coset_request* request, int64_t nanoseconds, bool* complete) {
  return guarded([&] {
    require(complete, "the place for an answer");
    *complete = in(request).wait_for(span_of(nanoseconds));
    if (*complete) *request = {};
  });
}

coset_status coset_request_free(coset_request* request) {
  return guarded([&] {
    if (request == nullptr) return;
    coset::request const given_up(std::move(in(request)));
    *request = {};
  });
}
