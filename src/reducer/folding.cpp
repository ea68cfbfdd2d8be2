// SPDX-License-Identifier: Apache-2.0
// Folding what copies hold: runs of blocks that the same copies have touched, each in one pass.
#include <algorithm>
#include <cstring>
#include <vector>

#include "reducer/core.hpp"

namespace coset::reducer_room {
namespace {

using detail::reducer_core;

constexpr std::uint64_t all_touched = 0x0101010101010101;
/// Below this much to fold, waiting for others takes longer than doing their part.
constexpr std::size_t bytes_per_part = 8 << 10;

/// One thread's part. Without a destination the total is it: what is touched there is its first source, and in the end
/// all of it is.
class folding {
 public:
  folding(reducer_core& core, void* into)
      : core_(core),
        shape_(core.shape()),
        copies_(core.in_order()),
        total_(into == nullptr ? core.early_total() : nullptr),
        to_(into == nullptr ? total_->data : static_cast<std::byte*>(into)),
        words_(copies_.size()),
        run_(copies_.size()) {}

  void fold(std::size_t begin, std::size_t end) {
    begin_ = end_ = begin;
    for (std::size_t word = begin; word < end; word += word_blocks) fold_word(word, std::min(word + word_blocks, end));
    finish_run();
  }

 private:
  void fold_word(std::size_t begin, std::size_t end) {
    std::uint64_t any = 0;
    bool whole = end - begin == word_blocks;
    for (std::size_t c = 0; c < copies_.size(); ++c) {
      std::memcpy(&words_[c], copies_[c]->touched + begin, sizeof(std::uint64_t));
      any |= words_[c];
      whole = whole && (words_[c] == 0 || words_[c] == all_touched);
    }
    if (any == 0 && total_ == nullptr) return finish_run();
    if (whole) return append(begin, end);
    for (std::size_t block = begin; block < end; ++block) {
      for (std::size_t c = 0; c < copies_.size(); ++c) words_[c] = copies_[c]->touched[block];
      append(block, block + 1);
    }
  }

  /// Blocks [begin, end) of the copies whose word is not 0.
  void append(std::size_t begin, std::size_t end) {
    bool const same = end_ == begin && begin_ < end_ &&
                      std::equal(words_.begin(), words_.end(), run_.begin(),
                                 [](std::uint64_t now, std::uint64_t before) { return (now != 0) == (before != 0); });
    if (!same) {
      finish_run();
      begin_ = begin;
      run_ = words_;
    }
    end_ = end;
  }

  void finish_run() {
    if (begin_ == end_) return;
    std::size_t const offset = shape_.begin_bytes(begin_), count = shape_.begin(end_) - shape_.begin(begin_);
    void* const to = to_ + offset;
    sources_.clear();
    if (total_ == nullptr) sources_.push_back(to);
    for (std::size_t c = 0; c < copies_.size(); ++c)
      if (run_[c] != 0) sources_.push_back(copies_[c]->data + offset);
    auto const sources = static_cast<std::uint32_t>(sources_.size());
    if (sources == 0) {
      core_.fill(to, count);
    } else if (sources > 1 || sources_.front() != to) {
      auto const& array = core_.array();
      array.reduction->folds->for_sources(sources)(array.operation.get(), &to, 1, sources_.data(), sources, count);
    }
    for (std::size_t c = 0; c < copies_.size(); ++c)
      if (run_[c] != 0) std::memset(copies_[c]->touched + begin_, 0, end_ - begin_);
    if (total_ != nullptr) std::memset(total_->touched + begin_, 1, end_ - begin_);
    begin_ = end_;
  }

  reducer_core& core_;
  blocks const& shape_;
  std::vector<owned_copy*> const& copies_;
  owned_copy* const total_;
  std::byte* const to_;
  std::vector<std::uint64_t> words_, run_;
  std::vector<void const*> sources_;
  std::size_t begin_ = 0, end_ = 0;  ///< the run: blocks that the copies with run_[c] != 0 have touched
};

}  // namespace
}  // namespace coset::reducer_room

namespace coset::detail {

using namespace reducer_room;

void fold_part(reducer_core& core, void* into, std::size_t part, std::size_t parts) {
  // Whole words, so that parts read no byte that another clears.
  std::size_t const number = core.shape().number(), words = (number + word_blocks - 1) / word_blocks;
  std::size_t const begin = words * part / parts * word_blocks, end = words * (part + 1) / parts * word_blocks;
  if (begin < end) folding(core, into).fold(begin, std::min(end, number));
}

std::size_t worthwhile_parts(reducer_core const& core, std::size_t copies) noexcept {
  std::size_t const bytes = core.shape().begin_bytes(core.shape().number()) * (copies + 1);
  return std::max<std::size_t>(1, bytes / bytes_per_part);
}

}  // namespace coset::detail
