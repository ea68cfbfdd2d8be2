// SPDX-License-Identifier: Apache-2.0
// Writes a new file and renames it; checks standard output to the end.
#include "command/output.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <string_view>
#include <utility>

#include "coset/error.hpp"

namespace coset::cli {
namespace {

namespace fs = std::filesystem;

std::string cannot_write(std::string const& file) {
  return fmt::format("cannot write '{}': {}", file, std::strerror(errno));
}

/// A file descriptor that is always closed.
class descriptor {
 public:
  explicit descriptor(int number) : number_(number) {}
  ~descriptor() { close(); }
  descriptor(descriptor const&) = delete;
  descriptor& operator=(descriptor const&) = delete;

  bool opened() const { return number_ >= 0; }

  bool write(std::string_view text) {
    while (!text.empty()) {
      auto const written = ::write(number_, text.data(), text.size());
      if (written < 0 && errno != EINTR) return false;
      if (written > 0) text.remove_prefix(static_cast<std::size_t>(written));
    }
    return true;
  }

  /// A full disk may only show here.
  bool close() { return number_ < 0 || ::close(std::exchange(number_, -1)) == 0; }

 private:
  int number_;
};

/// Whether the name is that of a thing that must not be replaced: a device, a pipe.
bool is_special(std::string const& name) {
  std::error_code absent;
  auto const status = fs::status(name, absent);
  return fs::exists(status) && !fs::is_regular_file(status);
}

/// Links stay: their target is replaced.
std::string file_meant(std::string const& name) {
  std::error_code ignored;
  auto const resolved = fs::canonical(name, ignored);
  return ignored ? name : resolved.string();
}

std::string beside(std::string const& file) { return fmt::format("{}.{}.new", file, getpid()); }

int open_new(std::string const& file) { return open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666); }

}  // namespace

output_file::output_file(std::string name) : name_(std::move(name)) {
  if (!wanted()) return;
  bool const exists = access(name_.c_str(), F_OK) == 0;
  if (exists && (access(name_.c_str(), W_OK) != 0 || fs::is_directory(name_))) {
    if (fs::is_directory(name_)) errno = EISDIR;
    throw error(cannot_write(name_));
  }
  if (is_special(name_)) return;
  std::string const file = beside(file_meant(name_));
  if (!descriptor(open_new(file)).opened()) throw error(cannot_write(name_));
  unlink(file.c_str());
}

void output_file::write(std::string const& text) const {
  bool const special = is_special(name_);
  std::string const meant = file_meant(name_), file = special ? name_ : beside(meant);
  descriptor out(special ? open(file.c_str(), O_WRONLY | O_CLOEXEC) : open_new(file));
  bool const whole = out.opened() && out.write(text) && out.close();
  if (whole && (special || std::rename(file.c_str(), meant.c_str()) == 0)) return;
  auto const why = cannot_write(name_);
  if (!special) unlink(file.c_str());
  throw output_error(why);
}

temporary_file::temporary_file(std::string const& text) : name_(fs::temp_directory_path() / "coset-XXXXXX") {
  descriptor out(::mkstemp(name_.data()));
  if (out.opened() && out.write(text) && out.close()) return;
  auto const why = cannot_write(name_);
  if (out.opened()) unlink(name_.c_str());
  throw output_error(why);
}

temporary_file::~temporary_file() { unlink(name_.c_str()); }

void prepare_standard_output() {
  std::signal(SIGPIPE, SIG_IGN);
  // A closed descriptor is opened for the wrong direction, so that its use still fails.
  for (int const standard : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (fcntl(standard, F_GETFD) < 0 && errno == EBADF)
      static_cast<void>(open("/dev/null", standard == STDIN_FILENO ? O_WRONLY : O_RDONLY));
}

namespace {
std::string new_form;
}

void note_old_form(std::string_view command, std::string_view verb, std::vector<std::string> const& sizes,
                   std::vector<std::string> const& plans) {
  new_form = fmt::format("coset {} {}", command, verb);
  for (auto const& size : sizes) new_form += ' ' + size;
  for (auto const& plan : plans)
    new_form += plan.find('(') == std::string::npos ? " --plan " + plan : " --plan \"" + plan + '"';
}

void tell_old_form() {
  if (!new_form.empty())
    std::cerr << "coset: note: this is now written " << new_form << " …; the next version refuses the old form\n";
}

std::size_t terminal_columns() {
  winsize size = {};
  return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 120;
}

bool standard_output_lost() {
  std::cout.flush();
  bool const flushed = std::fflush(stdout) == 0;
  return !flushed || !std::cout || std::ferror(stdout) != 0;
}

}  // namespace coset::cli
