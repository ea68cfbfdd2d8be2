// SPDX-License-Identifier: Apache-2.0
// Every use at every place of a process's life, from the first static constructor to the last destructor, where a
// process uses coset there for the first time, and where its threads have used it before.
//
// usage: places            a process of its own for each place, where freed memory is overwritten
//        places --plain    the same, where it is not
//        places as         such a process, as the environment says
#include <pthread.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "coset/reducers/reducer.hpp"
#include "coset/team.hpp"
#include "effort.hpp"
#include "uses.hpp"

extern char** environ;

namespace coset::ends {
namespace {

// In the environment, as static constructors do not see arguments.
constexpr char const *place_variable = "COSET_TEST_PLACE", *when_variable = "COSET_TEST_WHEN";

bool is_set(char const* variable, std::string_view value) {
  char const* const set = std::getenv(variable);
  return set != nullptr && set == value;
}

void say(char const* a, char const* b = "", char const* c = "", char const* d = "") {
  char line[400];
  int const bytes = std::snprintf(line, sizeof line, "%s%s%s%s\n", a, b, c, d);
  if (write(STDOUT_FILENO, line, static_cast<std::size_t>(bytes)) != bytes) std::abort();
}

void use_some(char const* where, std::span<use const> some) {
  for (use const& each : some) {
    try {
      if (!each.is_right()) say(where, ": wrong: ", each.name);
    } catch (std::exception const& e) {
      say(where, ": ", each.name, e.what());
    }
  }
}

void use_everything(char const* where) {
  use_some(where, of_reducers());
  use_some(where, of_runtimes());
  use_some(where, of_verbs());
}

/// The driver counts these words, as a place that is never reached would pass.
void reach(char const* place) {
  if (!is_set(place_variable, place)) return;
  use_everything(place);
  use_some(place, of_c());
  say(place, " reached");
}

struct by_constructor {
  explicit by_constructor(char const* place) { reach(place); }
};
struct by_destructor {
  char const* place;
  ~by_destructor() { reach(place); }
};

by_constructor const first_static [[gnu::init_priority(101)]] ("first static constructor");
by_destructor const last_static [[gnu::init_priority(102)]]{"last static destructor"};
by_constructor const any_static("static constructor");
[[gnu::destructor(102)]] void after_statics() { reach("destructor function"); }

/// Makes a variable whose destructor reaches the place when this thread ends.
template <int>
void mark_thread(char const* place) {
  thread_local by_destructor const here{place};
  static_cast<void>(here);
}

pthread_key_t key;
/// Where keys' destructors come in rounds: the second one.
void end_of_key(void* rounds) {
  static int left = 1;
  if (left-- > 0)
    pthread_setspecific(key, rounds);
  else
    reach("destructor of a key");
}

bool uses_again() { return is_set(when_variable, "again"); }

void live() {
  mark_thread<0>("older variable of a thread");
  pthread_setspecific(key, &key);
  if (uses_again()) use_everything("thread");
  mark_thread<1>("younger variable of a thread");
  reach("thread");
}

/// A thread of a team, which ends with it, or when idle teams do.
void live_as_rank() {
  if (!is_set(place_variable, "variable of a rank's thread")) return;
  team ranks({.ranks = 2, .place = placement::unbound});
  ranks.run([](member& me) {
    if (me.rank() == 1) mark_thread<4>("variable of a rank's thread");
  });
}
void end_rank() {
  if (is_set(place_variable, "variable of a rank's thread")) end_idle_teams();
}

/// Objects that the end of the process destroys.
void leave_to_exit() {
  static team ranks({.ranks = 2, .place = placement::unbound});
  ranks.run([](member&) {});
  static reducer<long> sum(100);
  sum.local()[1] += 1;
}

int live_all() {
  pthread_key_create(&key, end_of_key);
  mark_thread<2>("older variable of the main thread");
  std::atexit([] { reach("older atexit"); });
  if (uses_again()) use_everything("main");
  if (uses_again()) leave_to_exit();
  mark_thread<3>("younger variable of the main thread");
  std::atexit([] { reach("younger atexit"); });
  static by_destructor const youngest{"first static destructor"};
  static_cast<void>(youngest);
  reach("main");
  std::thread(live).join();
  live_as_rank();
  end_rank();
  return 0;
}

constexpr char const* places[] = {"first static constructor",
                                  "static constructor",
                                  "main",
                                  "thread",
                                  "younger variable of a thread",
                                  "older variable of a thread",
                                  "destructor of a key",
                                  "variable of a rank's thread",
                                  "younger variable of the main thread",
                                  "older variable of the main thread",
                                  "first static destructor",
                                  "younger atexit",
                                  "older atexit",
                                  "last static destructor",
                                  "destructor function"};

/// What the process said, and how it ended.
std::string outcome_of(char* program, std::vector<char*> environment) {
  int pipe_ends[2];
  if (pipe(pipe_ends) != 0) return "no pipe";
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, pipe_ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addclose(&actions, pipe_ends[0]);
  char* arguments[] = {program, const_cast<char*>("as"), nullptr};
  pid_t child;
  int const error = posix_spawn(&child, "/proc/self/exe", &actions, nullptr, arguments, environment.data());
  posix_spawn_file_actions_destroy(&actions);
  close(pipe_ends[1]);
  std::string said;
  char some[4096];
  for (ssize_t bytes; error == 0 && (bytes = read(pipe_ends[0], some, sizeof some)) > 0;)
    said.append(some, static_cast<std::size_t>(bytes));
  close(pipe_ends[0]);
  int status = 0;
  if (error != 0 || waitpid(child, &status, 0) != child) return "not started";
  if (WIFSIGNALED(status)) said += "signal " + std::to_string(WTERMSIG(status));
  if (WIFEXITED(status) && WEXITSTATUS(status) != 0) said += "exit status " + std::to_string(WEXITSTATUS(status));
  return said;
}

/// Under small effort each place once, used there for the first time and again in turns.
int try_all(char* program, bool overwritten) {
  int wrong = 0, turn = 0;
  for (char const* const place : places) {
    turn += 1;
    for (char const* const when : {"first", "again"}) {
      if (test::wanted_effort() == test::effort::small && turn++ % 2 == 0) continue;
      std::string variables[] = {place_variable + std::string("=") + place, when_variable + std::string("=") + when,
                                 overwritten ? "GLIBC_TUNABLES=glibc.malloc.perturb=165" : "GLIBC_TUNABLES="};
      std::vector<char*> environment;
      for (char** each = environ; *each != nullptr; ++each) environment.push_back(*each);
      for (std::string& each : variables) environment.push_back(each.data());
      environment.push_back(nullptr);
      std::string const said = outcome_of(program, environment), wanted = std::string(place) + " reached\n";
      if (said == wanted) continue;
      ++wrong;
      std::fprintf(stderr, "%s, %s:\n%s\n", place, when, said.c_str());
    }
  }
  return wrong != 0 ? 1 : 0;
}

}  // namespace
}  // namespace coset::ends

int main(int argc, char** argv) {
  std::string_view const how = argc > 1 ? argv[1] : "";
  return how == "as" ? coset::ends::live_all() : coset::ends::try_all(argv[0], how != "--plain");
}
