// SPDX-License-Identifier: Apache-2.0
#include "memory/explorer/sites.hpp"

#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <memory>
#include <set>
#include <unordered_map>

#include "memory/explorer/execution.hpp"

namespace coset::memory_test {
namespace {

struct met {
  access_kind kind;
  std::memory_order order;
};

struct registry {
  std::unordered_map<void const*, std::vector<met>> all;
  std::vector<void const*> weakened;
  access_kind kind{};
  std::memory_order from{}, to{};
};

registry& sites() {
  static auto& all = *new registry;
  return all;
}

/// Return addresses lie behind the call that they stand for.
std::uintptr_t offset_of(void const* address) {
  static std::uintptr_t const base = [] {
    std::uintptr_t found = 0;
    dl_iterate_phdr(
        [](dl_phdr_info* info, std::size_t, void* into) {
          *static_cast<std::uintptr_t*>(into) = info->dlpi_addr;
          return 1;  // the first is the program itself
        },
        &found);
    return found;
  }();
  return reinterpret_cast<std::uintptr_t>(address) - base - 1;
}

/// Of the frames of inlined calls the innermost that is the project's.
/// None for the counts of shared pointers, which are the standard library's.
std::string own_frame(std::vector<std::string> const& frames) {
  for (std::string const& frame : frames) {
    for (char const* header : {"/ext/atomicity.h", "/bits/shared_ptr_base.h"}) {
      if (frame.find(header) != std::string::npos) return {};
    }
  }
  for (std::string const& frame : frames) {
    for (char const* room : {"/src/", "/include/coset/", "/numa/", "/tests/memory/"}) {
      auto const at = frame.find(room);
      if (at == std::string::npos || frame.find("/usr/") == 0) continue;
      return frame.substr(at + 1, frame.find(' ', at) - at - 1);
    }
  }
  return {};
}

std::string run(std::string const& command) {
  std::string said;
  std::unique_ptr<FILE, int (*)(FILE*)> const out(popen(command.c_str(), "r"), pclose);
  std::array<char, 4096> part;
  while (out && fgets(part.data(), part.size(), out.get()) != nullptr) said += part.data();
  return said;
}

}  // namespace

std::vector<std::string> places_of(std::vector<void const*> const& addresses) {
  std::string command = "addr2line -a -i -e /proc/" + std::to_string(getpid()) + "/exe";
  std::array<char, 32> hex;
  for (void const* each : addresses) {
    std::snprintf(hex.data(), hex.size(), " %#lx", offset_of(each));
    command += hex.data();
  }
  std::vector<std::vector<std::string>> frames;
  std::string const said = run(command);
  for (std::size_t begin = 0; begin < said.size();) {
    std::size_t const end = said.find('\n', begin);
    std::string const line = said.substr(begin, end - begin);
    if (line.starts_with("0x")) {
      frames.emplace_back();
    } else if (!frames.empty()) {
      frames.back().push_back(line);
    }
    begin = end + 1;
  }
  std::vector<std::string> places;
  for (auto const& each : frames) places.push_back(own_frame(each));
  places.resize(addresses.size());
  return places;
}

char const* name_of(access_kind kind) {
  switch (kind) {
    case access_kind::load:
      return "load";
    case access_kind::store:
      return "store";
    case access_kind::change:
      return "change";
    case access_kind::failed_change:
      return "change that fails";
    case access_kind::fence:
      return "fence";
    case access_kind::fence_of_all:
      break;
  }
  return "fence of all threads";
}

char const* name_of(std::memory_order order) {
  switch (order) {
    case std::memory_order_relaxed:
      return "relaxed";
    case std::memory_order_consume:
    case std::memory_order_acquire:
      return "acquire";
    case std::memory_order_release:
      return "release";
    case std::memory_order_acq_rel:
      return "acq_rel";
    case std::memory_order_seq_cst:
      break;
  }
  return "seq_cst";
}

std::map<std::string, site> sites_met() {
  std::vector<void const*> addresses;
  for (auto const& [address, kinds] : sites().all) addresses.push_back(address);
  std::vector<std::string> const places = places_of(addresses);
  std::map<std::string, site> all;
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    if (places[i].empty()) continue;
    for (met const& each : sites().all[addresses[i]]) {
      std::string const name = places[i] + " " + name_of(each.kind) + " " + name_of(each.order);
      site& of = all.try_emplace(name, site{each.kind, each.order, {}}).first->second;
      of.addresses.push_back(addresses[i]);
    }
  }
  return all;
}

void forget_sites() noexcept { sites().all.clear(); }

std::vector<std::memory_order> weaker_than(access_kind kind, std::memory_order order) {
  bool const is_load = kind == access_kind::load || kind == access_kind::failed_change;
  switch (order) {
    case std::memory_order_seq_cst:
      if (is_load) return {std::memory_order_acquire};
      return {kind == access_kind::store ? std::memory_order_release : std::memory_order_acq_rel};
    case std::memory_order_acq_rel:
      return {std::memory_order_acquire, std::memory_order_release};
    case std::memory_order_acquire:
    case std::memory_order_release:
      return {std::memory_order_relaxed};
    default:
      return {};
  }
}

void weaken(site const& of, std::memory_order to) {
  sites().weakened = of.addresses;
  std::ranges::sort(sites().weakened);
  sites().kind = of.kind;
  sites().from = of.order;
  sites().to = to;
}

std::memory_order order_at(void const* address, access_kind kind, std::memory_order written) noexcept {
  exploring const here;
  registry& all = sites();
  if (all.weakened.empty()) {
    auto& seen = all.all[address];
    auto const is_it = [&](met const& each) { return each.kind == kind && each.order == written; };
    if (std::ranges::none_of(seen, is_it)) seen.push_back({kind, written});
    return written;
  }
  bool const is_weak = kind == all.kind && written == all.from && std::ranges::binary_search(all.weakened, address);
  return is_weak ? all.to : written;
}

bool is_left_out(void const* address) noexcept {
  return order_at(address, access_kind::fence_of_all, std::memory_order_seq_cst) != std::memory_order_seq_cst;
}

}  // namespace coset::memory_test
