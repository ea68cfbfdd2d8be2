// SPDX-License-Identifier: Apache-2.0
// The driver: one thread and no team, so that each case is a fork of it that has nothing yet.
#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <new>
#include <optional>
#include <string_view>

#include "torture/driver/driver.hpp"
#include "torture/misfortunes.hpp"
#include "torture/play.hpp"

namespace coset::torture {
namespace {

using clock = std::chrono::steady_clock;

struct wanted {
  std::uint64_t seed = 1, first = 0, cases = 0, rounds = 1;
  bool one = false;  ///< replay `first`
  std::uint64_t seconds_for_one = 10, jobs = 2;
  std::string counts, only, launcher;

  /// The launcher's last word is its MPI's name.
  std::string mpi() const { return launcher.empty() ? "" : " --" + launcher.substr(launcher.rfind(' ') + 1); }
};

/// A case under way, in a process of its own, or in processes that a launcher starts.
class running {
 public:
  running(std::vector<cell> const& cells, wanted const& w, std::uint64_t which)
      : of(cells[which % cells.size()]), number(which), until_(clock::now() + std::chrono::seconds(w.seconds_for_one)) {
    int const room = memfd_create("accounts", MFD_CLOEXEC);
    if (ftruncate(room, sizeof(accounts)) != 0) throw std::bad_alloc();
    void* const there = mmap(nullptr, sizeof(accounts), PROT_READ | PROT_WRITE, MAP_SHARED, room, 0);
    if (there == MAP_FAILED) throw std::bad_alloc();
    accounts_ = new (there) accounts;
    errors_ = memfd_create("errors", MFD_CLOEXEC);
    std::fflush(nullptr);
    process_ = fork();
    if (process_ == 0) w.launcher.empty() ? begin(w.seed) : launch(w, room);
    setpgid(process_, process_);
    descriptor_ = static_cast<int>(syscall(SYS_pidfd_open, process_, 0));
    room_ = room;
  }
  running(running const&) = delete;
  running& operator=(running const&) = delete;
  ~running() {
    for (int const d : {descriptor_, errors_, room_}) close(d);
    munmap(accounts_, sizeof(accounts));
  }

  int descriptor() const { return descriptor_; }
  clock::time_point until() const { return until_; }

  /// It has ended, or does now.
  ending end(bool in_time) {
    kill(-process_, SIGKILL);
    int status = 0;
    waitpid(process_, &status, 0);
    return judge(of, *accounts_, in_time, status, errors());
  }
  std::string errors() const {
    std::string text(static_cast<std::size_t>(std::max<off_t>(lseek(errors_, 0, SEEK_END), 0)), '\0');
    text.resize(static_cast<std::size_t>(std::max<ssize_t>(pread(errors_, text.data(), text.size(), 0), 0)));
    return text;
  }

  cell const of;
  std::uint64_t const number;

 private:
  void settle() {
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    dup2(errors_, 2);
    rlimit const none{};
    setrlimit(RLIMIT_CORE, &none);
  }
  [[noreturn]] void begin(std::uint64_t seed) {
    settle();
    trial t(of, seed, number, accounts_->front());
    play(t);
    std::exit(0);
  }
  [[noreturn]] void launch(wanted const& w, int room) {
    settle();
    dup2(2, 1);
    std::string const accounts_of = "/proc/" + std::to_string(getppid()) + "/fd/" + std::to_string(room);
    std::string command =
        "exec " + w.launcher + " " + std::filesystem::read_symlink("/proc/self/exe").string() + " " + accounts_of;
    for (std::uint64_t const word : {std::uint64_t{of.deed}, std::uint64_t(of.what), w.seed, number})
      command += " " + std::to_string(word);
    execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
    _exit(99);
  }

  clock::time_point const until_;
  accounts* accounts_;
  int errors_, descriptor_, room_;
  pid_t process_;
};

class driver {
 public:
  explicit driver(wanted const& w) : wanted_(w) {
    cells_ = cells_of(kinds_here());
    if (!w.only.empty())
      std::erase_if(cells_, [&](cell const& c) { return text(c).find(w.only) == std::string::npos; });
    if (wanted_.cases == 0) wanted_.cases = wanted_.rounds * cells_.size();
  }

  int run() {
    if (cells_.empty() || wanted_.launcher.empty() == (cells_.front().team == team_kind::processes)) return 2;
    std::uint64_t next = wanted_.first;
    std::uint64_t const end = wanted_.one ? next + 1 : next + wanted_.cases;
    auto const begun = clock::now();
    while (next < end || !under_way_.empty()) {
      while (next < end && under_way_.size() < wanted_.jobs) {
        under_way_.push_back(std::make_unique<running>(cells_, wanted_, next));
        ++next;
      }
      await_one();
    }
    double const seconds = std::chrono::duration<double>(clock::now() - begun).count();
    std::printf("%s%llu cases of %zu cells, each at least %zu times; seed %llu; %.0f s; %zu failures\n",
                tally_.table().c_str(), static_cast<unsigned long long>(end - wanted_.first), cells_.size(),
                tally_.least_of(cells_), static_cast<unsigned long long>(wanted_.seed), seconds, tally_.failures());
    if (!wanted_.counts.empty()) std::ofstream(wanted_.counts, std::ios::app) << tally_.lines();
    return tally_.failures() == 0 ? 0 : 1;
  }

 private:
  void await_one() {
    std::vector<pollfd> all;
    auto earliest = clock::time_point::max();
    for (auto const& r : under_way_) {
      all.push_back({r->descriptor(), POLLIN, 0});
      earliest = std::min(earliest, r->until());
    }
    auto const left = std::chrono::duration_cast<std::chrono::milliseconds>(earliest - clock::now()).count();
    poll(all.data(), all.size(), static_cast<int>(std::clamp<long>(left + 1, 0, 1000)));
    for (std::size_t k = all.size(); k-- > 0;) {
      bool const ended = all[k].revents != 0;
      if (!ended && clock::now() < under_way_[k]->until()) continue;
      note(*under_way_[k], ended);
      under_way_.erase(under_way_.begin() + static_cast<std::ptrdiff_t>(k));
    }
  }

  void note(running& r, bool in_time) {
    ending const e = r.end(in_time);
    tally_.add(r.of, e.is);
    if (!is_failure(e.is) && !wanted_.one) return;
    std::printf("%s: %s: %s\n  ./dev torture%s --seed %llu --case %llu%s\n%s", verdict_names[std::size_t(e.is)].data(),
                text(r.of).c_str(), e.text.c_str(), wanted_.mpi().c_str(),
                static_cast<unsigned long long>(wanted_.seed), static_cast<unsigned long long>(r.number),
                wanted_.only.empty() ? "" : (" --only '" + wanted_.only + "'").c_str(), r.errors().c_str());
    std::fflush(stdout);
  }

  wanted wanted_;
  std::vector<cell> cells_;
  std::vector<std::unique_ptr<running>> under_way_;
  tally tally_;
};

constexpr char const* usage =
    "usage: coset_torture [--seed N] [--cases N|--rounds N] [--case K] [--only WORDS] [--jobs N] [--deadline SECONDS] "
    "[--counts "
    "FILE]\n"
    "--only takes the cells whose names, as failures have them, contain these words.\n";

std::optional<wanted> wanted_by(int argc, char** argv) {
  wanted w;
  for (int k = 1; k < argc; k += 2) {
    std::string_view const word = argv[k];
    if (k + 1 == argc) return {};
    std::string_view const value = argv[k + 1];
    std::uint64_t number = 0;
    bool const is_number =
        std::from_chars(value.data(), value.data() + value.size(), number).ptr == value.data() + value.size();
    if (word == "--counts") {
      w.counts = value;
    } else if (word == "--launcher") {
      w.launcher = value;
    } else if (word == "--only") {
      w.only = value;
    } else if (!is_number) {
      return {};
    } else if (word == "--seed") {
      w.seed = number;
    } else if (word == "--rounds") {
      w.rounds = number;
    } else if (word == "--cases") {
      w.cases = number;
    } else if (word == "--case") {
      w.first = number;
      w.one = true;
    } else if (word == "--jobs" && number > 0) {
      w.jobs = number;
    } else if (word == "--deadline") {
      w.seconds_for_one = number;
    } else {
      return {};
    }
  }
  return w;
}

}  // namespace
}  // namespace coset::torture

int main(int argc, char** argv) {
  using namespace coset::torture;
  if (argc > 1 && std::string_view(argv[1]) == after_exec) return by_exec;
  if (argc > 1 && argv[1][0] == '/') return play_launched(argc, argv);
  auto const w = wanted_by(argc, argv);
  if (!w) {
    std::fputs(usage, stderr);
    return 2;
  }
  setenv("COSET_TUNING", "off", 0);
  (void)coset::topology::machine();  // found once, and not by each case
  return driver(*w).run();
}
