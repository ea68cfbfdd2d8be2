// SPDX-License-Identifier: Apache-2.0
#include "runtime/modes/floating_point_mode.hpp"

namespace coset::runtime {
namespace {

using control_word::extended_word;
using control_word::word;

/// The common words: rounding as x86 numbers it, who is flushed, the x87's rounding and precision, the rest of aarch64's.
constexpr std::uint32_t to_nearest = 0, down = 1, up = 2, to_zero = 3, results_flushed = 4, operands_flushed = 8;
constexpr int place_of_extended = 4, place_of_others = 8;
constexpr std::uint32_t roundings = 3, all_precision = 3;

struct both_words {
  word one;
  extended_word extended;
};

#if defined(__x86_64__)
std::uint32_t common_of(both_words here) noexcept {
  return (here.one >> 13 & roundings) | (here.one >> 13 & results_flushed) | (here.one >> 3 & operands_flushed) |
         static_cast<std::uint32_t>(here.extended >> 8 << place_of_extended);
}
both_words here_of(std::uint32_t common) noexcept {
  return {(common & (roundings | results_flushed)) << 13 | (common & operands_flushed) << 3,
          static_cast<extended_word>((common >> place_of_extended & 15) << 8)};
}
#else
/// The other kinds have no x87; whoever has one rounds there as elsewhere.
std::uint32_t with_extended(std::uint32_t common) noexcept {
  return common | (all_precision | (common & roundings) << 2) << place_of_extended;
}
#if defined(__aarch64__)
/// Up and down are the other way round. One bit flushes both.
std::uint32_t common_of(both_words here) noexcept {
  auto const w = static_cast<std::uint32_t>(here.one);
  std::uint32_t const others = (w & 7) | (w >> 16 & 8) | (w >> 21 & 0x30);
  std::uint32_t const flushed = (w >> 24 & 1) != 0 ? results_flushed | operands_flushed : 0;
  return with_extended((w >> 23 & 1) | (w >> 21 & 2) | flushed | others << place_of_others);
}
both_words here_of(std::uint32_t common) noexcept {
  std::uint32_t const others = common >> place_of_others;
  std::uint32_t const flushed = (common & (results_flushed | operands_flushed)) != 0 ? 1u << 24 : 0;
  return {(common & 1) << 23 | (common & 2) << 21 | flushed | (others & 7) | (others & 8) << 16 | (others & 0x30) << 21,
          0};
}
#else
constexpr int fenv_roundings[] = {FE_TONEAREST, FE_DOWNWARD, FE_UPWARD, FE_TOWARDZERO};

std::uint32_t common_of(both_words here) noexcept {
  std::uint32_t rounding = to_nearest;
  for (std::uint32_t const r : {down, up, to_zero})
    if (static_cast<word>(fenv_roundings[r]) == here.one) rounding = r;
  return with_extended(rounding);
}
both_words here_of(std::uint32_t common) noexcept { return {static_cast<word>(fenv_roundings[common & roundings]), 0}; }
#endif
#endif

/// The mode's bits of these words, and the others as they are: of the sticky flags, those that have been raised by now.
void set_mode(word mode, extended_word extended) noexcept {
  control_word::write((control_word::read() & ~control_word::mode_bits) | (mode & control_word::mode_bits));
  constexpr auto others = static_cast<extended_word>(~control_word::extended_mode_bits);
  control_word::write_extended(
      static_cast<extended_word>((control_word::read_extended() & others) | (extended & ~others)));
}

}  // namespace

floating_point_mode floating_point_mode::usual() noexcept {
  return from_common(to_nearest | all_precision << place_of_extended);
}

std::uint32_t floating_point_mode::in_common() const noexcept { return common_of({word_, extended_}); }

floating_point_mode floating_point_mode::from_common(std::uint32_t common) noexcept {
  both_words const here = here_of(common);
  return {here.one, here.extended};
}

void computing_in::enter(floating_point_mode const& mode) noexcept {
  own_ = control_word::read();
  own_extended_ = control_word::read_extended();
  set_mode(mode.word_, mode.extended_);
  entered_ = true;
}

void computing_in::leave() noexcept { set_mode(own_, own_extended_); }

}  // namespace coset::runtime
