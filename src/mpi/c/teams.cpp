// SPDX-License-Identifier: Apache-2.0
// Teams over processes for C, and plans for their members.
#include <algorithm>
#include <cstring>
#include <sstream>
#include <string>

#include "bindings/c/handles.hpp"
#include "bindings/c/options.hpp"
#include "bindings/c/status.hpp"
#include "coset/coset_mpi.h"
#include "coset/mpi.hpp"

struct coset_mpi_team {
  coset::mpi::team of;
};

using namespace coset::capi;

namespace {

coset::mpi::options options_from(coset_mpi_options const* given) {
  auto const c = options_of(given, coset_mpi_options COSET_MPI_OPTIONS, "COSET_MPI_OPTIONS");
  return {.leaders = c.leaders,
          .deadline = span_of(c.nanoseconds),
          .staging_bytes = c.staging_bytes,
          .library_leaders = c.library_leaders,
          .tree = c.tree != nullptr ? c.tree : ""};
}

coset::mpi::team& in(coset_mpi_team* team) {
  require(team, "the team");
  return team->of;
}

}  // namespace

coset_status coset_mpi_team_create(MPI_Comm over, coset_team* threads, coset_mpi_options const* options,
                                   coset_mpi_team** made) {
  return guarded([&] {
    require(threads, "the team of threads");
    require(made, "the place for a team");
    *made = new coset_mpi_team{{over, *threads->of, options_from(options)}};
  });
}

coset_status coset_mpi_team_free(coset_mpi_team* team) {
  return guarded([&] { delete team; });
}

uint32_t coset_mpi_team_size(coset_mpi_team const* team) { return team != nullptr ? team->of.size() : 0; }
uint32_t coset_mpi_team_first(coset_mpi_team const* team) { return team != nullptr ? team->of.first() : 0; }
uint32_t coset_mpi_team_threads(coset_mpi_team const* team) { return team != nullptr ? team->of.threads() : 0; }
int32_t coset_mpi_team_processes(coset_mpi_team const* team) { return team != nullptr ? team->of.processes() : 0; }
int32_t coset_mpi_team_hosts(coset_mpi_team const* team) { return team != nullptr ? team->of.hosts() : 0; }

size_t coset_mpi_team_describe(coset_mpi_team const* team, char* text, size_t room) {
  std::string whole;
  if (team != nullptr) guarded([&] { whole = team->of.describe(); });
  if (text == nullptr || room == 0) return whole.size();
  std::size_t const fits = std::min(whole.size(), room - 1);
  std::memcpy(text, whole.data(), fits);
  text[fits] = '\0';
  return whole.size();
}

coset_status coset_mpi_team_run(coset_mpi_team* team, coset_body* body, void* context) {
  return guarded([&] {
    require(reinterpret_cast<void const*>(body), "the body");
    in(team).run([&](coset::member& me) { run_body(me, body, context); });
  });
}

coset_status coset_mpi_dump(coset_mpi_team* team, int32_t descriptor) {
  return guarded([&] {
    std::ostringstream account;
    dump(in(team), account);
    write_to(descriptor, account.str());
  });
}

coset_status coset_mpi_team_join(coset_mpi_team* team, uint32_t thread, coset_member** me) {
  return guarded([&] {
    require(me, "the place for a member");
    *me = nullptr;
    *me = new joined_member([&] { return in(team).join(thread); });
  });
}

coset_status coset_mpi_team_reset(coset_mpi_team* team) {
  return guarded([&] { in(team).reset(); });
}

coset_status coset_mpi_plan_create(coset_mpi_team* team, coset_verb verb, size_t count, coset_type type,
                                   coset_operation op, coset_plan_options const* options, coset_plan** made) {
  return guarded([&] { make_plan(in(team), verb, count, type, op, options, made); });
}
