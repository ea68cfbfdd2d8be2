// SPDX-License-Identifier: Apache-2.0
// One actor for each rank, in this process and address space, so that all read the same messages.
#define SMPI_NO_OVERRIDE_MALLOC
#include "simulated.hpp"

#include <smpi/mpi.h>
#include <smpi/smpi.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <simgrid/s4u.hpp>

#include "coset/error.hpp"

namespace coset::simulation {
namespace {

namespace s4u = simgrid::s4u;

// Calls begin so many simulated seconds after each other, which costs nothing and needs no barrier.
constexpr double turn_of_a_call = 1000;

constexpr char instance[] = "ranks";

double combine_per_byte;  // of the only machine

void combine(double bytes) {
  if (bytes > 0) smpi_execute_flops(bytes * combine_per_byte * s4u::this_actor::get_host()->get_speed());
}

/// MPI's operation: as long as a fold of ours, and changes nothing.
void combine_bytes(void*, void*, int* count, MPI_Datatype*) { combine(*count); }

class rank_actor {
 public:
  rank_actor(std::size_t own, std::vector<call>& calls, char* in, char* out)
      : own_(static_cast<rank_t>(own)), calls_(calls), in_(in), out_(out) {}

  void operator()() {
    s4u::Actor::self()->set_property("instance_id", instance);
    s4u::Actor::self()->set_property("rank", std::to_string(own_));
    MPI_Init(nullptr, nullptr);
    MPI_Op operation = MPI_OP_NULL;
    MPI_Op_create(combine_bytes, 1, &operation);
    // The first call of some finds out about hosts.
    MPI_Allreduce(in_, out_, 1, MPI_BYTE, operation, MPI_COMM_WORLD);
    for (std::size_t i = 0; i < calls_.size(); ++i) {
      double const begin = turn_of_a_call * static_cast<double>(i + 1);
      if (s4u::Engine::get_clock() > begin)
        throw error("a simulated call took longer than " + std::to_string(turn_of_a_call) + " s");
      s4u::this_actor::sleep_until(begin);
      call& now = calls_[i];
      if (now.sent != nullptr)
        carry_out(*now.sent, now.bytes);
      else
        MPI_Allreduce(in_, out_, static_cast<int>(now.bytes), MPI_BYTE, operation, MPI_COMM_WORLD);
      now.seconds = std::max(now.seconds, s4u::Engine::get_clock() - begin);
    }
    MPI_Op_free(&operation);
    MPI_Finalize();
  }

 private:
  void carry_out(messages const& sent, std::uint64_t bytes) {
    double const of_a_part = static_cast<double>(bytes) / static_cast<double>(sent.parts_of_a_vector());
    auto const length = [&](std::int64_t volume) {
      return static_cast<int>(std::llround(of_a_part * static_cast<double>(volume)));
    };
    for (std::size_t step = 0; step < sent.steps(); ++step) {
      sent.look(own_, step, now_);
      requests_.clear();
      int const tag = static_cast<int>(step);
      for (auto const& [peer, volume] : now_.receives)
        MPI_Irecv(out_, length(volume), MPI_BYTE, static_cast<int>(peer), tag, MPI_COMM_WORLD,
                  &requests_.emplace_back());
      for (auto const& [peer, volume] : now_.sends)
        MPI_Isend(in_, length(volume), MPI_BYTE, static_cast<int>(peer), tag, MPI_COMM_WORLD,
                  &requests_.emplace_back());
      if (!requests_.empty()) MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
      combine(of_a_part * static_cast<double>(now_.combined));
    }
  }

  rank_t own_;
  std::vector<call>& calls_;
  char *in_, *out_;  // of all ranks: nothing is copied
  rank_step now_;
  std::vector<MPI_Request> requests_;
};

/// SimGrid's algorithms ask which ranks share a host by messages of a word, which have to arrive; others are lengths alone.
void copy_words(smx_activity_t sent, void* from, std::size_t bytes) {
  if (bytes <= sizeof(std::int64_t))
    smpi_comm_copy_buffer_callback(reinterpret_cast<simgrid::kernel::activity::CommImpl*>(sent), from, bytes);
}

void configure(machine const& on) {
  smpi_init_options();
  auto const overhead = std::to_string(on.message_overhead * 1e9) + "e-9";
  std::vector<std::string> all{"network/model:SMPI",    "surf/precision:1e-9",     "smpi/simulate-computation:no",
                               "smpi/privatization:no", "contexts/stack-size:256", "network/crosstraffic:no",
                               "network/weight-S:0",    "smpi/bw-factor:0:1",      "smpi/lat-factor:0:1"};
  for (std::string const what : {"os", "ois", "or"}) all.push_back("smpi/" + what + ":0:" + overhead + ":0");
  if (!on.comparator.empty()) all.push_back("smpi/allreduce:" + on.comparator);
  all.insert(all.end(), on.settings.begin(), on.settings.end());
  for (std::string const& setting : all) s4u::Engine::set_config(setting);
}

}  // namespace

void simulate(machine const& on, std::vector<call>& calls) {
  std::string name = "simulation", quiet = "--log=root.thres:warning";
  std::array<char*, 3> arguments{name.data(), quiet.data(), nullptr};
  int count = 2;
  s4u::Engine engine(&count, arguments.data());
  configure(on);
  SMPI_init();
  engine.load_platform(on.platform);
  SMPI_app_instance_register(instance, nullptr, static_cast<int>(on.hosts.size()));
  smpi_comm_set_copy_data_callback(copy_words);
  combine_per_byte = on.combine_per_byte;
  std::uint64_t most = 1;
  for (call const& each : calls) most = std::max(most, each.bytes);
  auto const in = std::make_unique_for_overwrite<char[]>(most), out = std::make_unique_for_overwrite<char[]>(most);
  for (std::size_t rank = 0; rank < on.hosts.size(); ++rank) {
    s4u::Actor::create("rank-" + std::to_string(rank), engine.host_by_name(on.hosts[rank]),
                       rank_actor(rank, calls, in.get(), out.get()));
  }
  engine.run();
  SMPI_finalize();
}

}  // namespace coset::simulation
