// SPDX-License-Identifier: Apache-2.0
// The processes of the MPI rival, as a contestant: started once, asleep between bursts, ended with it.
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <sstream>

#include "bench/collectives/factories.hpp"
#include "bench/collectives/mpi/order.hpp"

namespace coset::measure {
namespace {

/// A program whose standard input and output are streams of ours.
class child {
 public:
  explicit child(std::vector<std::string> const& command) {
    std::array<int, 2> down{}, up{};
    if (pipe(down.data()) != 0 || pipe(up.data()) != 0) throw error("no pipe to the MPI rival");
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, down[0], STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, up[1], STDOUT_FILENO);
    for (int const end : {down[1], up[0]}) posix_spawn_file_actions_addclose(&actions, end);
    std::vector<char*> arguments;
    for (auto const& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    bool const failed = posix_spawnp(&pid_, arguments[0], &actions, nullptr, arguments.data(), environ) != 0;
    posix_spawn_file_actions_destroy(&actions);
    close(down[0]);
    close(up[1]);
    to_.reset(fdopen(down[1], "w"));
    from_.reset(fdopen(up[0], "r"));
    if (failed) throw error(fmt::format("{} cannot be started", command[0]));
  }
  ~child() {
    to_.reset();  // the end of its orders
    waitpid(pid_, nullptr, 0);
  }
  child(child const&) = delete;
  child& operator=(child const&) = delete;

  /// Sends a line, if there is one, and returns the next one that comes.
  std::string ask(std::string const& line) {
    std::fputs(line.c_str(), to_.get());
    std::fflush(to_.get());
    char* text = nullptr;
    std::size_t room = 0;
    bool const came = getline(&text, &room, from_.get()) > 0;
    std::string answer = came ? text : "";
    std::free(text);
    if (!came) throw error("the MPI rival has ended by itself");
    return answer;
  }

 private:
  struct close_file {
    void operator()(std::FILE* f) const { std::fclose(f); }
  };
  pid_t pid_ = -1;
  std::unique_ptr<std::FILE, close_file> to_, from_;
};

std::vector<std::string> command_for(std::vector<unsigned> const& processors) {
  // Open MPI binds, counts slots and refuses root unless told; we bind. MPICH does none of that.
  for (auto const& [name, value] :
       {std::pair{"OMPI_MCA_hwloc_base_binding_policy", "none"}, std::pair{"OMPI_MCA_rmaps_base_oversubscribe", "1"},
        std::pair{"OMPI_ALLOW_RUN_AS_ROOT", "1"}, std::pair{"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"}}) {
    setenv(name, value, 0);
  }
  std::vector<std::string> command{COSET_MPIEXEC, "-np", std::to_string(processors.size()), COSET_MPI_RIVAL};
  for (unsigned const p : processors) command.push_back(std::to_string(p));
  return command;
}

class mpi_contestant final : public contestant {
 public:
  explicit mpi_contestant(std::vector<unsigned> const& processors)
      : contestant("mpi", "mpi"), processes_(command_for(processors)) {
    processes_.ask("");  // "ready"
  }

  std::string declines(problem const& p) const override {
    bool const shares = p.what == verb::reduce_shared || p.what == verb::allreduce_view;
    return shares ? "processes have no result in common" : "";
  }

  burst_result burst(workload const& work, burst_order const& order) override {
    std::ostringstream line;
    line << mpi_order{work.shape(), order};
    std::istringstream answer(processes_.ask(line.str()));
    burst_result made;
    std::size_t samples = 0;
    answer >> made.wrong >> samples;
    made.nanoseconds.resize(samples);
    for (double& n : made.nanoseconds) answer >> n;
    return made;
  }

 private:
  child processes_;
};

}  // namespace

/// An installed coset-lab outlives the build that has the program.
bool mpi_is_there() { return access(COSET_MPI_RIVAL, X_OK) == 0 && access(COSET_MPIEXEC, X_OK) == 0; }

std::unique_ptr<contestant> make_mpi(std::vector<unsigned> const& processors) {
  return std::make_unique<mpi_contestant>(processors);
}

}  // namespace coset::measure
