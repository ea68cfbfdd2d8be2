// SPDX-License-Identifier: Apache-2.0
// The `coset` command: its subcommands, and what their failures mean as exit statuses.
#include <iostream>
#include <new>

#include "cli/commands.hpp"
#include "coset/error.hpp"

int main(int argc, char** argv) {
  CLI::App app("Reductions for threads that share memory: look at schedules, measure them, choose.", "coset");
  app.require_subcommand(1);
  for (auto const add : {coset::cli::add_info, coset::cli::add_bench, coset::cli::add_list, coset::cli::add_plan,
                         coset::cli::add_generate, coset::cli::add_cost, coset::cli::add_tune}) {
    add(app);
  }

  constexpr int bad_input = 2;
  try {
    app.parse(argc, argv);
    return 0;
  } catch (CLI::RuntimeError const& failure) {
    return failure.get_exit_code();
  } catch (CLI::ParseError const& failure) {
    return app.exit(failure) == 0 ? 0 : bad_input;
  } catch (coset::error const& failure) {
    std::cerr << "coset: " << failure.what() << '\n';
    return bad_input;
  } catch (std::bad_alloc const&) {  // a million ranks are soon asked for
    std::cerr << "coset: this takes more memory than there is\n";
    return 1;
  } catch (std::exception const& failure) {
    std::cerr << "coset: " << failure.what() << '\n';
    return 1;
  }
}
