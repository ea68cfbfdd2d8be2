// SPDX-License-Identifier: Apache-2.0
// The places in the code from which atomic operations come, and their orders, which can be made weaker there.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace coset::memory_test {

/// "src/runtime/executor.cpp:87" of the project's own code that each address belongs to, also where it was inlined. All at
/// once, since the program that knows takes long to start.
std::vector<std::string> places_of(std::vector<void const*> const& addresses);

enum class access_kind : std::uint8_t { load, store, change, failed_change, fence, fence_of_all };
char const* name_of(access_kind);
char const* name_of(std::memory_order);

/// One order in the code: all addresses to which it was compiled.
struct site {
  access_kind kind;
  std::memory_order order;
  std::vector<void const*> addresses;
};

/// Those that were met so far, by place, kind and order.
std::map<std::string, site> sites_met();
void forget_sites() noexcept;

/// One degree weaker: none, one or two orders.
std::vector<std::memory_order> weaker_than(access_kind, std::memory_order);

/// From now on; of one site.
void weaken(site const&, std::memory_order to);

/// What holds for this access, after weakening.
std::memory_order order_at(void const* address, access_kind, std::memory_order written) noexcept;
/// Whether a fence of all threads is made at all.
bool is_left_out(void const* address) noexcept;

}  // namespace coset::memory_test
