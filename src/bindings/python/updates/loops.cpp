// SPDX-License-Identifier: Apache-2.0
#include "bindings/python/updates/loops.hpp"

#include <algorithm>

#include "coset/team.hpp"
#include "coset/verbs/barrier.hpp"

namespace coset::python {

void meeting::operator()() const { barrier(*me); }

void by_all(team& with, std::function<void(ranks_crew&)> const& body) {
  ranks_crew::counter taken = 0;
  with.run([&](member& me) {
    ranks_crew all(taken, me.rank(), me.size(), me.size(), {&me});
    body(all);
  });
}

void share_out(team* with, std::size_t count, std::function<void(std::size_t, std::size_t)> const& job) {
  if (with == nullptr) return job(0, count);
  with->run([&](member& me) {
    std::size_t const share = count / me.size() + 1;
    std::size_t const begin = std::min(count, me.rank() * share);
    job(begin, std::min(count, begin + share));
  });
}

std::size_t threads_of(team const* with) noexcept { return with == nullptr ? 1 : with->size(); }

}  // namespace coset::python
