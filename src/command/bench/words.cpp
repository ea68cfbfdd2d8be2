// SPDX-License-Identifier: Apache-2.0
#include "command/bench/words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "coset/error.hpp"

namespace coset::cli {

std::string times_faster(double factor) {
  int const digits = factor < 0.1 ? 3 : factor < 10 ? 2 : factor < 100 ? 1 : 0;
  return fmt::format("{:.{}f}×", factor, digits);
}

std::string with_interval(measure::comparison const& c) {
  auto const found = measure::advantage_of(c);
  return fmt::format("{} [{:.2f}, {:.2f}]", times_faster(found.median), found.low, found.high);
}

char const* name_of(measure::timing timing) {
  return timing == measure::timing::cycle ? "cycle" : timing == measure::timing::call ? "call" : "alternating";
}

char const* in_words(measure::timing timing) {
  switch (timing) {
    case measure::timing::call:
      return "the call alone after an untimed barrier, averaged over ranks";
    case measure::timing::cycle:
      return "one cycle of {owners rewrite their input, collective, every rank reads the whole result}";
    case measure::timing::alternating:
      break;
  }
  return "half of {owners rewrite their input, collective, the same again, every rank reads the whole result}";
}

measure::timing timing_named(std::string_view name) {
  auto const found = std::ranges::find_if(measure::timings, [&](measure::timing t) { return name == name_of(t); });
  if (found == measure::timings.end()) throw argument_error(fmt::format("unknown timing '{}'", name));
  return *found;
}

std::string state_in_words(std::string_view kind) {
  constexpr std::string_view clustered = "clustered ";
  if (kind.starts_with(clustered)) return fmt::format("{} near", kind.substr(clustered.size()));
  if (kind == "far") return "apart";
  if (kind == "shared") return "sharing cores";
  return std::string(kind);
}

std::string instruction_set_in_words(std::string_view target) {
  constexpr std::pair<std::string_view, std::string_view> known[] = {
      {"AVX3_SPR", "AVX-512 (Sapphire Rapids)"},
      {"AVX3_ZEN4", "AVX-512 (Zen 4)"},
      {"AVX3_DL", "AVX-512 (Ice Lake)"},
      {"AVX3", "AVX-512"},
      {"NEON_WITHOUT_AES", "NEON"},
      {"SVE2_128", "SVE2 (128 bits)"},
      {"SVE_256", "SVE (256 bits)"},
      {"EMU128", "none: one element at a time"},
      {"SCALAR", "none: one element at a time"},
  };
  for (auto const& [name, words] : known)
    if (name == target) return std::string(words);
  return std::string(target);
}

}  // namespace coset::cli
