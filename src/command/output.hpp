// SPDX-License-Identifier: Apache-2.0
// The destinations of results: if one cannot be written, the command says so before it measures, or by its exit status.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace coset::cli {

/// Results were made and cannot be written: exit status 1.
struct output_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A file for results. It holds all results or stays as it was: they are written to a new file, which replaces it in
/// one step. A file that is not regular, such as a device, is written directly.
class output_file {
 public:
  /// An empty name: no file. Throws error naming the file and the reason if it cannot be written; leaves nothing
  /// behind.
  explicit output_file(std::string name);

  bool wanted() const { return !name_.empty(); }

  /// Throws output_error naming the file and the reason.
  void write(std::string const& text) const;

 private:
  std::string name_;
};

/// A file of a name of its own, that is gone when nobody needs it any more. Throws output_error if it cannot be written.
class temporary_file {
 public:
  explicit temporary_file(std::string const& text);
  ~temporary_file();
  temporary_file(temporary_file const&) = delete;
  temporary_file& operator=(temporary_file const&) = delete;

  std::string const& name() const { return name_; }

 private:
  std::string name_;
};

/// Call before anything is written. Then a reader that has gone is an error like others instead of a signal that ends
/// the command, and no file takes the place of a closed standard output.
void prepare_standard_output();

/// Says in the end, once, how a call is written whose form goes away: COMMAND VERB SIZES --plan ALGORITHM.
void note_old_form(std::string_view command, std::string_view verb, std::vector<std::string> const& sizes,
                   std::vector<std::string> const& plans = {});
/// On standard error. Not before, as a program that is started instead notes it, too.
void tell_old_form();

/// Of the terminal that standard output is; 120 if it is none.
std::size_t terminal_columns();

/// Whether output to standard output is lost, as on a full disk or when its reader has gone. Flushes.
bool standard_output_lost();

}  // namespace coset::cli
