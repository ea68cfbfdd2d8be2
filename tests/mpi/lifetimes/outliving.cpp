// SPDX-License-Identifier: Apache-2.0
// outliving all|last|broken: teams before MPI_Init_thread and after MPI_Finalize, which all processes call while the team
// of all, or of the last one, is still there; broken: while only that of the last one still was of use.
#include <unistd.h>

#include <cstdio>
#include <memory>
#include <string>

#include "mpi/processes.hpp"

namespace coset::mpi_test {
namespace {

int faults = 0;

void expect_error(outcome const& thrown, std::string const& words) {
  if (thrown.type == type_name<mpi::error>() && thrown.message.find(words) != std::string::npos) return;
  std::fprintf(stderr, "no mpi::error of '%s', but '%s' '%s'\n", words.c_str(), thrown.type.c_str(),
               thrown.message.c_str());
  ++faults;
}

bool works(mpi::team& all) {
  bool right = true;
  all.run([&](member& me) {
    if (allreduce(me, 1u) != me.size()) right = false;
  });
  return right;
}

int outlive(std::string const& whose) {
  team threads({.ranks = 2, .place = placement::unbound}), single({.ranks = 1, .place = placement::unbound});
  expect_error(outcome_of([&] { mpi::team(MPI_COMM_WORLD, threads); }), "before MPI_Init_thread");
  int given = 0;
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &given);
  bool const is_last = process() == processes() - 1;
  mpi::team alone(MPI_COMM_SELF, single);
  auto of_all = std::make_unique<mpi::team>(MPI_COMM_WORLD, threads),
       of_some = std::make_unique<mpi::team>(MPI_COMM_WORLD, single);
  auto lent = team::adopt(1);
  auto of_lent = std::make_unique<mpi::team>(MPI_COMM_WORLD, *lent);
  if (!works(*of_all) || !works(*of_some) || !works(alone)) ++faults;
  if (allreduce(of_lent->join(0), 1u) != of_lent->size()) ++faults;
  if (whose == "last" && !is_last) of_some.reset();
  if (whose == "broken" && !is_last)
    expect_error(outcome_of([&] { of_some->run([](member& me) { barrier(me); }); }), "has destroyed its team");
  MPI_Finalize();
  expect_error(outcome_of([&] { of_all->run([](member& me) { barrier(me); }); }), "MPI has been finalised");
  expect_error(outcome_of([&] { alone.run([](member& me) { barrier(me); }); }), "MPI has been finalised");
  expect_error(outcome_of([&] { mpi::team(MPI_COMM_WORLD, threads); }), "after MPI_Finalize");
  expect_error(outcome_of([&] { (void)of_lent->join(0); }), "MPI has been finalised");
  lent.reset();  // MPI_Finalize has ended what its threads were lent to
  if (of_lent->size() == 0) ++faults;
  if (of_all->size() == 0 || of_all->describe().empty()) ++faults;
  return faults == 0 ? 0 : 1;
}

}  // namespace
}  // namespace coset::mpi_test

int main(int argc, char** argv) {
  alarm(60);
  return argc == 2 ? coset::mpi_test::outlive(argv[1]) : 2;
}
