// SPDX-License-Identifier: Apache-2.0
// Shares of a host, computed from what launchers report about its processes. No hwloc here.
#include "numa/share.hpp"

#include <charconv>
#include <string_view>

#include "base/environment/variables.hpp"

namespace coset::numa {
namespace {

using environment::value;

std::optional<unsigned> number(std::string_view text) {
  unsigned found = 0;
  auto const [end, fault] = std::from_chars(text.data(), text.data() + text.size(), found);
  return fault == std::errc() && end == text.data() + text.size() ? std::optional(found) : std::nullopt;
}

/// Slurm's "4", or "4(x3)" for three equal hosts; empty if hosts differ: it is not worth finding out which one this is.
std::optional<unsigned> of_every_host(std::string_view text) {
  if (text.find(',') != text.npos) return std::nullopt;
  return number(text.substr(0, text.find("(x")));
}

/// Flux tells of the whole job: nothing if its processes cannot be as many on each host.
std::optional<unsigned> of_equal_hosts(std::string_view processes, std::string_view hosts) {
  auto const all = number(processes), each = number(hosts);
  return all && each && *each != 0 && *all % *each == 0 ? std::optional(*all / *each) : std::nullopt;
}

std::optional<siblings> checked(std::optional<unsigned> own, std::optional<unsigned> all) {
  if (!own || !all || *own >= *all) return std::nullopt;
  return siblings{*own, *all};
}

}  // namespace

std::optional<siblings> launched_siblings() {
  if (value("COSET_SHARE") == "no") return std::nullopt;
  struct variables {
    environment::name own, all;
  };
  constexpr variables launchers[]{{"OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE"},
                                  {"MPI_LOCALRANKID", "MPI_LOCALNRANKS"},
                                  {"PMI_LOCAL_RANK", "PMI_LOCAL_SIZE"},
                                  {"PALS_LOCAL_RANKID", "PALS_LOCAL_SIZE"}};
  std::optional<siblings> found;
  for (auto const& [own, all] : launchers) {
    if (!found) found = checked(number(value(own)), number(value(all)));
  }
  // A batch script has SLURM_LOCALID, too; only a step has the other variable.
  if (!found) found = checked(number(value("SLURM_LOCALID")), of_every_host(value("SLURM_STEP_TASKS_PER_NODE")));
  // One process of Slurm's may have started Flux, which starts several.
  if (!found || found->all == 1)
    found =
        checked(number(value("FLUX_TASK_LOCAL_ID")), of_equal_hosts(value("FLUX_JOB_SIZE"), value("FLUX_JOB_NNODES")));
  return found && found->all > 1 ? found : std::nullopt;
}

std::set<unsigned> share_of(topology const& machine, siblings of) {
  unsigned const cores = machine.cores();
  bool const enough = of.all <= cores;
  auto const boundary = [&](unsigned k) {
    return static_cast<unsigned>(std::uint64_t{k} * cores / of.all);  // parts differ by one core at most
  };
  unsigned const first = enough ? boundary(of.own) : of.own % cores;
  unsigned const last = enough ? boundary(of.own + 1) : first + 1;
  std::set<unsigned> own;
  for (processor const& p : machine.processors) {
    if (first <= p.core && p.core < last) own.insert(p.os_index);
  }
  return own;
}

std::vector<processor> place_or_share(topology const& machine, rank_t ranks, placement how) {
  std::size_t const all = machine.processors.size();
  if (ranks <= all || all == 0 || how == placement::unbound) return machine.place(ranks, how);
  auto const each = machine.place(static_cast<rank_t>(all), how);
  std::vector<processor> shared;
  for (std::size_t r = 0; r < ranks; ++r) shared.push_back(each[how == placement::compact ? r * all / ranks : r % all]);
  return shared;
}

}  // namespace coset::numa
