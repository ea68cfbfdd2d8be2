// SPDX-License-Identifier: Apache-2.0
// Has hwloc load a machine, or says why it does not.
#include "numa/hwloc.hpp"

#include <sys/mman.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <new>
#include <system_error>

#include "base/environment/variables.hpp"
#include "base/text/file.hpp"
#include "coset/topology.hpp"
#include "numa/process/fork.hpp"

namespace coset::numa {
namespace {

/// What stands between these words and the next quotation mark; empty without them.
std::string quoted_after(std::string_view words, std::string const& text) {
  auto const at = text.find(words);
  if (at == std::string::npos) return {};
  auto const begin = at + words.size();
  return text.substr(begin, text.find('"', begin) - begin);
}

int major_of(std::string const& version) { return std::atoi(version.c_str()); }

/// A library's version is in no header and no function: hwloc 2.9 and 2.15 have the API versions 2.8 and 2.12. It is among
/// what hwloc notes of a machine.
std::string own_version(int major) {
  hwloc_topology_t raw = nullptr;
  if (hwloc_topology_init(&raw) == 0) {
    handle const machine(raw);
    if (hwloc_topology_set_synthetic(raw, "pu:1") == 0 && hwloc_topology_load(raw) == 0)
      if (char const* const noted = value_of(notes_of(raw), "hwlocVersion"); noted != nullptr) return noted;
  }
  return std::to_string(major);
}

/// The reason that hwloc does not give when it refuses a file: a newer hwloc has written it, or one that is too old. Empty
/// otherwise.
std::string other_hwloc(std::string const& file) {
  auto const text = text::read_file(file).text;
  int const own = static_cast<int>(hwloc_get_api_version() >> 16);
  int written = major_of(quoted_after("<topology version=\"", text));
  if (written == 0 && text.find("<topology>") != std::string::npos) written = 1;  // hwloc 1 numbers none
  bool const is_newer = written > own, is_older = own >= 3 && written == 1;
  if (!is_newer && !is_older) return {};
  // hwloc keeps the version that has looked at the machine, also where a later one writes the file.
  auto const noted = quoted_after("name=\"hwlocVersion\" value=\"", text);
  return "it is from hwloc " + (major_of(noted) == written ? noted : std::to_string(written)) + ", and this is hwloc " +
         own_version(own) +
         (is_newer ? "; where it is from, `lstopo --export-xml-flags v" + std::to_string(own) +
                         " FILE.xml` writes what can be read here"
                   : "; with hwloc 2, `lstopo --input OLD.xml NEW.xml` writes what can be read here");
}

// Never destroyed, and so that leak checkers find it.
std::atomic<hwloc_topology_t> keeps_plugins_open = nullptr;

// hwloc opens its plugins with the first topology and closes them with the last: 4 ms each time where all of Debian's
// are installed. An empty topology keeps them open until the process ends.
void keep_plugins() {
  static bool const done [[maybe_unused]] = [] {
    hwloc_topology_t empty = nullptr;
    if (hwloc_topology_init(&empty) == 0) keeps_plugins_open = empty;
    return true;
  }();
}

/// hwloc 2.9 ends the program by a signal where it gets no memory: whether there is some is asked before.
void require_memory_for_hwloc() {
  constexpr std::size_t more_than_it_needs = 4 * 1024 * 1024;
  void* const pages = mmap(nullptr, more_than_it_needs, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) throw std::bad_alloc();
  munmap(pages, more_than_it_needs);
}

}  // namespace

handle load(std::string const& name, std::function<int(hwloc_topology_t)> const& choose_source,
            std::string const& file) {
  if (!file.empty())
    if (auto const refusal = text::refusal_of_file(file); !refusal.empty()) throw topology_error(name + " " + refusal);
  auto const fail = [&] {
    auto const why = std::system_category().message(errno);
    auto const other = other_hwloc(file);
    std::string const words(environment::value("HWLOC_COMPONENTS"));
    throw topology_error("cannot read the topology of " + name + ": " + (other.empty() ? why : other) +
                         (words.empty() ? "" : ", with HWLOC_COMPONENTS=" + words));
  };
  fork_waits const until_read;
  require_memory_for_hwloc();
  keep_plugins();
  hwloc_topology_t raw = nullptr;
  if (hwloc_topology_init(&raw) != 0) fail();
  handle machine(raw);
  if (choose_source(raw) != 0 || hwloc_topology_load(raw) != 0) fail();
  return machine;
}

}  // namespace coset::numa
