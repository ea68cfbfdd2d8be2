// SPDX-License-Identifier: Apache-2.0
// The functions that LightGBM calls, as collectives of the C interface, which takes sizes of elements at run time.
#include "network.hpp"

#include <chrono>
#include <cstring>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace over_coset {
namespace {

/// LightGBM hands no context around, but calls from the thread that is the machine.
thread_local coset_member* here = nullptr;

void check(coset_status status) {
  if (status != COSET_SUCCESS)
    throw std::runtime_error(std::string(coset_status_name(status)) + ": " + coset_error_message());
}

/// What is wrong on this machine is told to all.
void refuse(std::string const& reason) { check(coset_member_refuse(here, reason.c_str())); }

std::string text(int number) { return std::to_string(number); }

/// A reducer as an operation of coset.
class operation {
 public:
  operation(ReduceFunction reducer, int type_size) : reducer_(reducer), type_size_(type_size) {
    // One name: all machines run one program, and addresses differ between processes.
    check(coset_operation_create("LightGBM's reducer", fold, this, static_cast<std::size_t>(type_size), 0, &made_));
  }
  ~operation() { coset_operation_free(made_); }
  operation(operation const&) = delete;
  operation& operator=(operation const&) = delete;

  coset_operation handle() const { return made_; }

 private:
  static void fold(void* left, void const* right, std::size_t count, void* context) {
    auto const& self = *static_cast<operation const*>(context);
    self.reducer_(static_cast<char const*>(right), static_cast<char*>(left), self.type_size_,
                  static_cast<comm_size_t>(count) * self.type_size_);
  }

  ReduceFunction reducer_;
  int type_size_;
  coset_operation made_ = 0;
};

/// LightGBM has a handful of reducers; the thread keeps what it has made of them.
coset_operation operation_of(ReduceFunction reducer, int type_size) {
  thread_local std::map<std::pair<std::uintptr_t, int>, std::unique_ptr<operation>> made;
  auto& entry = made[{reinterpret_cast<std::uintptr_t>(reducer), type_size}];
  if (entry == nullptr) entry = std::make_unique<operation>(reducer, type_size);
  return entry->handle();
}

/// The blocks' lengths in elements. Refused unless the blocks lie one after the other and fill `size` bytes.
std::vector<std::size_t> counts_of(comm_size_t const* start, comm_size_t const* length, int blocks, int type_size,
                                   comm_size_t size) {
  int const machines = static_cast<int>(coset_member_size(here));
  if (blocks != machines) refuse(text(blocks) + " blocks for " + text(machines) + " machines");
  std::vector<std::size_t> counts;
  comm_size_t end = 0;
  for (int b = 0; b < blocks; ++b) {
    if (start[b] != end)
      refuse("block " + text(b) + " begins at " + text(start[b]) + ", not where the one before ends, " + text(end));
    if (length[b] < 0 || length[b] % type_size != 0)
      refuse("block " + text(b) + " has " + text(length[b]) + " bytes of elements of " + text(type_size));
    counts.push_back(static_cast<std::size_t>(length[b] / type_size));
    end += length[b];
  }
  if (end != size) refuse("blocks of " + text(end) + " bytes in " + text(size));
  return counts;
}

bool overlap(char const* a, comm_size_t a_size, char const* b, comm_size_t b_size) {
  std::less<char const*> const before;
  return before(a, b + b_size) && before(b, a + a_size);
}

}  // namespace

machine::machine(coset_team* team, int rank) : team_(team), exceptions_(std::uncaught_exceptions()) {
  std::chrono::nanoseconds const patience = std::chrono::seconds(30);
  check(coset_team_join(team, static_cast<std::uint32_t>(rank), patience.count(), &me_));
  here = me_;
}

machine::machine(coset_member* me) : me_(me) { here = me; }

machine::~machine() {
  here = nullptr;
  if (team_ == nullptr) return;
  if (std::uncaught_exceptions() > exceptions_) coset_team_abort(team_, "a machine has failed");
  coset_team_leave(me_);
}

int machine::rank() const noexcept { return static_cast<int>(coset_member_rank(me_)); }
int machine::size() const noexcept { return static_cast<int>(coset_member_size(me_)); }

void reduce_scatter(char* input, comm_size_t input_size, int type_size, comm_size_t const* block_start,
                    comm_size_t const* block_len, int num_block, char* output, comm_size_t output_size,
                    ReduceFunction const& reducer) {
  if (type_size <= 0) refuse("elements of " + text(type_size) + " bytes");
  auto const counts = counts_of(block_start, block_len, num_block, type_size, input_size);
  auto const mine = coset_member_rank(here);
  if (block_len[mine] > output_size) refuse("a block of " + text(block_len[mine]) + " bytes for " + text(output_size));
  coset_type const elements = COSET_STRUCT(type_size);
  coset_operation const reduce = operation_of(reducer, type_size);
  if (!overlap(input, input_size, output, output_size)) {
    check(coset_reduce_scatter_counts(here, input, output, counts.data(), elements, reduce));
  } else {  // LightGBM's allreduce of one buffer
    check(coset_reduce_scatter_counts(here, COSET_IN_PLACE, input, counts.data(), elements, reduce));
    std::memmove(output, input + block_start[mine], counts[mine] * static_cast<std::size_t>(type_size));
  }
}

void allgather(char* input, comm_size_t input_size, comm_size_t const* block_start, comm_size_t const* block_len,
               int num_block, char* output, comm_size_t output_size) {
  auto const counts = counts_of(block_start, block_len, num_block, 1, output_size);
  auto const mine = coset_member_rank(here);
  if (block_len[mine] != input_size) refuse("a block of " + text(block_len[mine]) + " bytes from " + text(input_size));
  // What reduce_scatter has left at the beginning of `output` is the input of the allgather after it.
  std::memmove(output + block_start[mine], input, counts[mine]);
  check(coset_allgather_counts(here, COSET_IN_PLACE, output, counts.data(), COSET_UINT8));
}

}  // namespace over_coset
