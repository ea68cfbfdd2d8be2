// SPDX-License-Identifier: Apache-2.0
#include "python/updates/loops.hpp"

#include <algorithm>

#include "coset/team.hpp"
#include "coset/verbs/barrier.hpp"

namespace coset::python {

any_crew::any_crew(member& me, std::atomic<std::size_t>& taken)
    : me_(&me), taken_(&taken), threads_(me.size()), rank_(me.rank()) {}

std::size_t any_crew::next(std::size_t jobs) noexcept {
  if (taken_ == nullptr) return std::min(alone_++, jobs);
  return taken_->fetch_add(1, std::memory_order_relaxed) - begin_;
}

/// Each rank has asked once in vain, so all know where the counter stands.
void any_crew::end_phase(std::size_t jobs) {
  begin_ += jobs + threads_;
  alone_ = 0;
  end_phase();
}

void any_crew::end_phase() {
  if (me_ != nullptr) barrier(*me_);
}

void by_all(team* with, std::function<void(any_crew&)> const& body) {
  if (with == nullptr) {
    any_crew alone;
    return body(alone);
  }
  std::atomic<std::size_t> taken = 0;
  with->run([&](member& me) {
    any_crew all(me, taken);
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
