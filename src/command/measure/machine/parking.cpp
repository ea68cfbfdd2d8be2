// SPDX-License-Identifier: Apache-2.0
// Parked threads, and the check in /proc that they sleep.
#include "command/measure/machine/parking.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <exception>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>

#include "command/measure/machine/flag_barrier.hpp"
#include "numa/binding.hpp"

namespace coset::measure {
namespace {

/// The state letter stands behind the command name, which is in parentheses and may contain anything.
bool sleeps(std::filesystem::path const& task) {
  std::string line;
  std::ifstream file(task / "stat");
  if (!std::getline(file, line)) return true;  // it has ended meanwhile
  auto const name_end = line.rfind(')');
  return name_end == std::string::npos || line.compare(name_end + 2, 1, "R") != 0;
}

int others_running() {
  auto const self = std::to_string(gettid());
  int running = 0;
  for (auto const& task : std::filesystem::directory_iterator("/proc/self/task")) {
    if (task.path().filename() != self && !sleeps(task.path())) ++running;
  }
  return running;
}

}  // namespace

void parking::serve(rank_t rank) {
  std::uint64_t done = 0;
  std::unique_lock lock(mutex_);
  for (;;) {
    new_job_.wait(lock, [&] { return closed_ || jobs_ != done; });
    if (jobs_ == done) return;
    done = jobs_;
    auto const& job = *job_;
    lock.unlock();
    job(rank);
    lock.lock();
    if (--busy_ == 0) job_done_.notify_one();
  }
}

void parking::run(std::function<void(rank_t)> const& job) {
  std::unique_lock lock(mutex_);
  job_ = &job;
  busy_ = ranks_;
  ++jobs_;
  new_job_.notify_all();
  job_done_.wait(lock, [&] { return busy_ == 0; });
}

void parking::close() {
  std::lock_guard const lock(mutex_);
  closed_ = true;
  new_job_.notify_all();
}

bool have_one_each(std::vector<unsigned> const& processors) {
  return std::set(processors.begin(), processors.end()).size() == processors.size();
}

int looks_among(std::vector<unsigned> const& processors) { return have_one_each(processors) ? looks_before_yields : 0; }

crew::crew(std::vector<unsigned> const& processors) : parking_(static_cast<rank_t>(processors.size())) {
  for (rank_t rank = 0; rank < processors.size(); ++rank) {
    threads_.emplace_back([this, rank] { parking_.serve(rank); });
  }
  std::mutex several;
  std::exception_ptr failure;
  parking_.run([&](rank_t rank) {
    try {
      numa::bind_this_thread(processors[rank]);
    } catch (...) {
      std::lock_guard const lock(several);
      failure = std::current_exception();
    }
  });
  if (failure == nullptr) return;
  parking_.close();
  std::rethrow_exception(failure);
}

crew::~crew() { parking_.close(); }

void wait_until_others_sleep() {
  using namespace std::chrono_literals;
  auto const deadline = std::chrono::steady_clock::now() + 20s;
  while (int const running = others_running()) {
    if (std::chrono::steady_clock::now() > deadline) {
      throw timed_out(
          fmt::format("{} threads of an earlier contestant are still running after 20 s: other programs use these "
                      "processors, so run it again when the machine is quiet",
                      running));
    }
    std::this_thread::yield();
  }
}

}  // namespace coset::measure
