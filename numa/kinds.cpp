// SPDX-License-Identifier: Apache-2.0
#include "numa/kinds.hpp"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <memory>
#include <string>

#include "base/environment/variables.hpp"
#include "base/text/file.hpp"
#include "base/text/format.hpp"

namespace coset::numa {
namespace {

std::string told_by_system(std::string const& file) { return text::read_file("/sys/devices/system/node/" + file).text; }

/// Null if all is ordinary: mostly already because each node with memory has processors.
std::unique_ptr<topology const> look_for_tiers() {
  if (told_by_system("has_memory") == told_by_system("has_cpu")) return nullptr;
  auto machine = std::make_unique<topology const>(topology::whole_machine());
  return machine->this_system && has_several_tiers(*machine) ? std::move(machine) : nullptr;
}

/// Free pages, without those that the system would have to take from files first.
bool has_room(unsigned node, std::size_t bytes) {
  std::string const told = told_by_system(text::format("node{}/meminfo", node));
  constexpr std::string_view name = "MemFree:";
  auto const at = told.find(name);
  return at == std::string::npos || std::strtoull(told.c_str() + at + name.size(), nullptr, 10) >= bytes / 1024;
}

}  // namespace

void require_kind(memory_kind kind) {
  if (kind > memory_kind::large_capacity)
    throw argument_error(text::format("there is no memory kind {}", static_cast<int>(kind)));
}

bool has_several_tiers(topology const& machine) noexcept {
  return std::any_of(machine.memories.begin(), machine.memories.end(),
                     [](node_memory const& each) { return each.tier != memory_tier::ordinary; });
}

topology const* machine_of_several_tiers() noexcept try {
  // Without a lock, for which a forked child would wait: threads that look at the same time find the same.
  static std::atomic<bool> is_known = false;
  static std::atomic<topology const*> found = nullptr;
  if (!is_known.load(std::memory_order_acquire)) {
    auto machine = look_for_tiers();
    topology const* expected = nullptr;
    if (machine && found.compare_exchange_strong(expected, machine.get())) (void)machine.release();
    // Publishes `found`. Partner: the load above.
    is_known.store(true, std::memory_order_release);
  }
  return found.load(std::memory_order_relaxed);
} catch (std::exception const&) {
  return nullptr;  // who made a team has been told why
}

memory_kind resolved(memory_kind asked, memory_kind otherwise) noexcept {
  if (machine_of_several_tiers() == nullptr) return memory_kind::standard;
  if (asked != memory_kind::automatic) return asked;
  auto const wanted = environment::value("COSET_MEMORY");
  auto const* const named = std::find(names_of_kinds.begin(), names_of_kinds.end(), wanted);
  if (named == names_of_kinds.end()) return otherwise;
  return static_cast<memory_kind>(1 + (named - names_of_kinds.begin()));
}

unsigned memory_for(unsigned node, memory_kind kind, std::size_t bytes) noexcept try {
  topology const* const machine = machine_of_several_tiers();
  if (machine == nullptr || kind == memory_kind::standard) return node;
  auto const at = std::find_if(machine->nodes.begin(), machine->nodes.end(),
                               [&](numa_node const& each) { return each.os_index == node; });
  bool const is_only_one = node == any_node && machine->nodes.size() == 1;
  if (at == machine->nodes.end() && !is_only_one) return node;
  auto const index = is_only_one ? 0 : static_cast<unsigned>(at - machine->nodes.begin());
  auto const wanted = machine->memories_for(kind, index);
  for (numa_node const& each : wanted)
    if (&each == &wanted.back() || has_room(each.os_index, bytes)) return each.os_index;
  return node;
} catch (std::exception const&) {
  return node;  // short of memory for the list
}

bool bind(memory& where, std::size_t offset, std::size_t bytes, unsigned node, memory_kind kind) noexcept {
  node = memory_for(node, kind, bytes);
  return node != any_node && where.bind(offset, bytes, node);
}

}  // namespace coset::numa
