// SPDX-License-Identifier: Apache-2.0
// The sources' files, which are written in Lua: claims and figures as tables, what finds their numbers as functions of them.
// With vocabulary/, the only place that knows Lua.
#pragma once

#include <filesystem>
#include <memory>
#include <string_view>
#include <vector>

#include "lab/reproduce/claim.hpp"
#include "lab/reproduce/context.hpp"

struct lua_State;

namespace coset::cli::reproduction {

class script {
 public:
  explicit script(context&);
  ~script();
  script(script const&) = delete;
  script& operator=(script const&) = delete;

  /// Carries out a file that declares a source. Throws argument_error naming file and line of what is wrong: also of a claim
  /// without id, place or question, with an id that another one has, or whose finding does not agree and gives no reason.
  void read(std::string_view text, std::string const& file);

  std::vector<source> const& sources() const { return sources_; }

  /// Throws argument_error naming the claim, if its function fails.
  judged_claim judge(claim const&) const;
  std::vector<point> draw(figure const&) const;

 private:
  void add_source(std::string const& file);
  void add_claim(claim, source& to, std::string const& file) const;
  answer answer_to(claim const&, question const&) const;

  struct closed {
    void operator()(lua_State*) const;
  };
  std::unique_ptr<lua_State, closed> lua_;
  std::vector<source> sources_;
};

}  // namespace coset::cli::reproduction
