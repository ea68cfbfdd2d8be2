// SPDX-License-Identifier: Apache-2.0
// Where results go: what cannot be written is known before anything is measured, or told by the exit status.
#pragma once

#include <stdexcept>
#include <string>

namespace coset::cli {

/// Results were made and cannot be written: exit status 1.
struct output_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A file for results. It holds them all or is as it was: they are written beside it, and the file is replaced in one
/// step; what is no regular file, such as a device, is written itself.
class output_file {
 public:
  /// An empty name: no file. Throws error naming the file and the reason if it could not be
  /// written; leaves nothing behind.
  explicit output_file(std::string name);

  bool wanted() const { return !name_.empty(); }

  /// Throws output_error naming the file and the reason.
  void write(std::string const& text) const;

 private:
  std::string name_;
};

/// Call before anything is written: a reader who has gone is an error like others, and no signal that ends the command;
/// and no file takes the place of a standard output that is closed.
void prepare_standard_output();

/// Whether something that went to standard output is lost, as on a full disk or when its reader has gone. Flushes.
bool standard_output_lost();

}  // namespace coset::cli
