// SPDX-License-Identifier: Apache-2.0
#include "reducer/updates/prices.hpp"

#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/text/format.hpp"
#include "numa/binding.hpp"

namespace coset::updates_room {
namespace {

using detail::update_facts;
using detail::update_plan;

constexpr double ns = 1e-9;
constexpr unsigned line_bytes = 64;
constexpr std::size_t mebibyte = std::size_t{1} << 20;

// Nanoseconds, between what two Zen 5 processors and two of Sapphire Rapids take (src/reducer/updates/README.md). Ways differ by
// factors where it matters, so that one set of constants serves both.
constexpr double append_ns = 2.6;  ///< an update into a log
constexpr double take_ns = 1.6;    ///< one out of it, into a part that a cache holds
constexpr double update_in_own_cache_ns = 1.4;
constexpr double look_ns = 1.1;   ///< at a key of another thread's
constexpr double atomic_ns = 10;  ///< a locked compare and exchange of a line that nobody else has
constexpr double fought_ns = 60;  ///< of one that others want, too
constexpr double chunk_ns = 600;  ///< a page of a log, whose lines no cache holds
/// Lines that a part's updates meet for the first time cost this much of what they cost in the loop's order.
constexpr double worth_of_order = 0.75;
constexpr double stream_byte_ns = 0.09;  ///< in order, beyond the caches; and within them:
constexpr double near_byte_ns = 0.05;
constexpr double region_ns = 1500, meeting_ns = 400;  ///< to wake threads, and for each more of them
constexpr double looked_at_ns = 12;                   ///< a key of the sample: read, sorted and counted
/// A second thread is seldom worth a whole one: neighbours share a core's units, or memory.
constexpr double worth_of_another = 0.8;
constexpr double hardly_more = 1.05;  ///< than ways without the serial loop's bits, one with them may cost

/// What is touched of a target, in no order.
struct region {
  double bytes;  ///< of its lines
  double pages;
  region part(double share) const { return {bytes * share, pages * share}; }
};

/// An access whose page's place is not known any more takes this longer: none up to as many pages as processors remember, and
/// then with their logarithm, as less and less of the page tables is in a core's own cache.
double walk_ns(double pages) {
  constexpr double remembered = 2048, at_least = 4, each_doubling = 1;
  return pages <= remembered ? 0 : at_least + each_doubling * std::log2(pages / remembered);
}

/// An update of an element there, by one thread.
double update_ns(region const& of, machine_facts const& on) {
  double const bytes = of.bytes, walk = walk_ns(of.pages);
  struct point {
    double bytes, ns;
  };
  auto const own = static_cast<double>(on.own_cache_bytes);
  std::array<point, 5> const known{
      {{32e3, 0.9}, {own, update_in_own_cache_ns}, {8 * own, 2.3}, {128 * own, 5.5}, {512 * own, 8}}};
  if (bytes <= known.front().bytes) return known.front().ns + walk;
  for (std::size_t k = 1; k < known.size(); ++k) {
    if (bytes > known[k].bytes) continue;
    point const &low = known[k - 1], &high = known[k];
    return walk + low.ns + (high.ns - low.ns) * std::log(bytes / low.bytes) / std::log(high.bytes / low.bytes);
  }
  return known.back().ns + walk;
}

/// What the threads are worth together, in threads.
double hands_of(update_facts const& of, machine_facts const& on) {
  return 1 + worth_of_another * (static_cast<double>(std::min(of.threads, on.processors)) - 1);
}

/// Threads that have no processor of their own meet only when others have slept.
double together_ns(update_facts const& of, machine_facts const& on, int meetings) {
  auto const threads = static_cast<double>(of.threads);
  return region_ns + threads * meetings * (meeting_ns + (of.threads > on.processors ? 20e3 : 0));
}

/// A loop and a machine, as prices see them.
class question {
 public:
  question(update_facts const& of, scatter_options const& wanted, machine_facts const& on)
      : of_(of),
        on_(on),
        most_bytes_(wanted.most_bytes != 0 ? wanted.most_bytes : std::max(target_bytes(), 64 * mebibyte)),
        updates_(static_cast<double>(of.updates)),
        threads_(static_cast<double>(of.threads)),
        hands_(hands_of(of, on)) {
    unsigned const shift = elements_of_line();
    double const all = std::max(std::ceil(static_cast<double>(of.length) / std::exp2(shift)), 1.0);
    auto const lines = of.sample->touched(shift, std::min(all, updates_), updates_);
    unsigned const page_shift = shift + 6;  // 64 lines
    double const pages = of.sample->touched(page_shift, std::min(std::ceil(all / 64), lines.all), updates_).all;
    auto const bytes = static_cast<double>(std::max<std::size_t>(line_bytes, of.element_bytes));
    lines_ = lines.all;
    hot_share_ = lines.hot_share;
    touched_ = {lines.all * bytes, pages};
    hot_ = {lines.hot * bytes, std::min(lines.hot, pages)};
  }

  priced_way one_thread() const {
    return {way::one_thread,  true, "", updates_ * mean_update_ns() * ns, 0, loop_bytes() + changed_bytes(),
            {way::one_thread}};
  }
  priced_way owner_scan() const {
    double const largest = std::max(of_.sample->largest_share(elements_of_line()), 1 / hands_);
    double const each = look_ns * threads_ / std::min(threads_, processors()) + mean_update_ns(1 / hands_) * largest;
    double const keys = updates_ * key_bytes * (threads_ - 1);
    return {
        way::owner_scan,  true, "", (updates_ * each + together_ns(1)) * ns, 0, loop_bytes() + keys + changed_bytes(),
        {way::owner_scan}};
  }
  /// A partition takes this at least.
  double least_of_partition() const { return (updates_ * (append_ns + take_ns) / hands_ + together_ns(2)) * ns; }
  /// Without a price, where none is needed.
  static priced_way no_partition() { return {way::partition, false, "", 0, 0, 0, {}}; }
  priced_way partition() const {
    update_plan const plan = partitioned();
    bool const possible = of_.record_bytes != 0;
    double const parts = touched_parts(plan.shift);
    double const batches = std::ceil(updates_ / static_cast<double>(std::max<std::size_t>(plan.batch, 1)));
    double const largest = std::max(of_.sample->largest_share(plan.shift), 1 / hands_);
    double const chunks =
        std::min(parts * threads_ + updates_ * static_cast<double>(of_.record_bytes) / 4096, updates_);
    double const first = std::min(batches * lines_, updates_);
    double const first_ns = std::max(place_ns(touched_, 1) - update_in_own_cache_ns, 0.0) * worth_of_order;
    double const beyond = std::max(mean_update_ns(1 / parts) - update_in_own_cache_ns, 0.0);
    double const all = updates_ * (append_ns / hands_ + (take_ns + beyond) * largest) + chunks * chunk_ns / hands_ +
                       first * first_ns / hands_ + batches * together_ns(2);
    double const records = updates_ * static_cast<double>(of_.record_bytes);
    double const pages = parts * threads_ * 4096;
    // Records are fetched before they are stored, stored, and read again.
    return {way::partition,
            possible,
            possible ? "" : "updates of this type cannot be kept",
            all * ns,
            std::min(records, static_cast<double>(plan.batch * of_.record_bytes)) + pages,
            loop_bytes() + 3 * records + batches * changed_bytes(),
            plan};
  }
  priced_way private_copies() const {
    double const bytes = static_cast<double>(target_bytes());
    bool const fits = target_bytes() * of_.threads <= most_bytes_;
    double const byte_ns = bytes * threads_ > 16e6 ? stream_byte_ns : near_byte_ns;
    double const all =
        updates_ * mean_update_ns() / hands_ + bytes * (threads_ + 1) * byte_ns / hands_ * 1.6 + together_ns(2);
    return {way::private_copies,  of_.can.copies && fits,
            why_no_copies(fits),  all * ns,
            bytes * threads_,     loop_bytes() + threads_ * changed_bytes() + 2 * threads_ * bytes + 2 * bytes,
            {way::private_copies}};
  }
  priced_way atomics() const {
    double const hottest = of_.sample->largest_share(elements_of_line());
    double const each = (mean_update_ns() + atomic_ns) / hands_ + fought_ns * hottest;
    return {way::atomics,
            of_.can.atomics,
            of_.can.atomics ? "" : "there is no atomic operation on these elements",
            (updates_ * each + together_ns(1)) * ns,
            0,
            loop_bytes() + changed_bytes(),
            {way::atomics}};
  }

 private:
  static constexpr double key_bytes = 4;
  /// Keys and values, read once.
  double loop_bytes() const {
    return updates_ * (key_bytes + static_cast<double>(of_.record_bytes) - sizeof(std::uint32_t));
  }
  /// The target's lines, read and written once.
  double changed_bytes() const { return 2 * touched_.bytes; }
  std::string why_no_copies(bool fit) const {
    if (!of_.can.copies) return "copies need an operation that commutes and whose identity is known";
    if (fit) return "";
    return text::format("copies for {} threads take {} bytes, and most_bytes is {}", of_.threads,
                        target_bytes() * of_.threads, most_bytes_);
  }
  std::size_t target_bytes() const { return of_.length * of_.element_bytes; }
  double processors() const { return static_cast<double>(on_.processors); }
  unsigned elements_of_line() const {
    return static_cast<unsigned>(std::bit_width(line_bytes / std::min<std::size_t>(of_.element_bytes, line_bytes)) - 1);
  }
  double parts_of(unsigned shift) const {
    return std::max(1.0, std::ceil(static_cast<double>(of_.length) / static_cast<double>(std::size_t{1} << shift)));
  }
  double touched_parts(unsigned shift) const { return of_.sample->touched(shift, parts_of(shift), updates_).all; }
  /// An update of an element of this region, for a thread that has to do with `share` of what is touched.
  double place_ns(region const& where, double share) const {
    return update_ns(where.part(std::min(share, of_.sample->at_a_time())), on_);
  }
  /// Lines that come in order are fetched ahead, however many they are.
  double mean_update_ns(double share = 1) const {
    double const ordered = (1 - of_.sample->at_a_time()) * lines_ / updates_ * line_bytes * stream_byte_ns;
    return hot_share_ * place_ns(hot_, share) + (1 - hot_share_) * place_ns(touched_, share) + ordered;
  }
  double together_ns(int meetings) const { return updates_room::together_ns(of_, on_, meetings); }

  /// A part is what a core's cache holds; there are several for each thread, if its updates fill pages. Each thread has a page
  /// for each part that it may touch: all together no more than half of the memory, which leaves as much for further pages.
  update_plan partitioned() const {
    unsigned const most = 32;
    auto shift =
        static_cast<unsigned>(std::bit_width(std::max<std::size_t>(on_.own_cache_bytes / of_.element_bytes, 2)) - 1);
    auto const touched = [&] { return touched_parts(shift); };
    while (shift > 10 && touched() < 4 * threads_) --shift;
    // Where the sample has missed parts, memory has not: each thread may come to all of them.
    auto const pages = [&] { return std::min(parts_of(shift), std::ceil(updates_ / threads_)) * threads_ * 4096; };
    while (shift < most && (parts_of(shift) > 4096 || pages() > static_cast<double>(most_bytes_) / 2)) ++shift;
    while (shift < most && touched() > std::max(4 * threads_, updates_ / threads_ / 128)) ++shift;
    auto const taken = static_cast<std::size_t>(pages());
    std::size_t const room = std::max(most_bytes_ > taken ? most_bytes_ - taken : 0, mebibyte);
    std::size_t const fit = std::max<std::size_t>(room / std::max<std::size_t>(of_.record_bytes, 1), 1);
    std::size_t const batches = std::max<std::size_t>((of_.updates + fit - 1) / fit, 1);
    return {way::partition, (of_.updates + batches - 1) / batches, shift};
  }

  update_facts const& of_;
  machine_facts const& on_;
  std::size_t const most_bytes_;
  double const updates_, threads_;
  double const hands_;  ///< what the threads are worth together, in threads
  double lines_ = 0, hot_share_ = 1;
  region touched_ = {}, hot_ = {};  ///< all of it, and what every other update goes to
};

}  // namespace

/// What the C library says; virtual machines tell nothing of use about caches that cores share.
machine_facts const& machine_facts::of_this_machine() {
  static machine_facts const known = [] {
    long const said = sysconf(_SC_LEVEL2_CACHE_SIZE);
    std::size_t const bytes = said > 0 ? static_cast<std::size_t>(said) : mebibyte;
    return machine_facts{numa::usable_processors(), std::clamp(bytes, mebibyte / 4, 4 * mebibyte)};
  }();
  return known;
}

[[gnu::cold]] std::array<priced_way, 5> prices_of(update_facts const& of, scatter_options const& wanted,
                                                  machine_facts const& on) {
  question const asked(of, wanted, on);
  return {asked.one_thread(), asked.owner_scan(), asked.partition(), asked.private_copies(), asked.atomics()};
}

bool is_too_little(update_facts const& of, machine_facts const& on) {
  if (of.updates < detail::key_sample::least_updates) return true;
  auto const updates = static_cast<double>(of.updates);
  double const target = static_cast<double>(of.length) * static_cast<double>(of.element_bytes);
  double const choice_ns = updates / static_cast<double>(detail::key_sample::stride_of(of.updates)) * looked_at_ns;
  region const scattered{std::min(updates * line_bytes, target), std::min(updates, target / 4096)};
  return updates * update_ns(scattered, on) * (1 - 1 / hands_of(of, on)) <= together_ns(of, on, 1) + choice_ns;
}

priced_way cheapest(update_facts const& of, scatter_options const& wanted, machine_facts const& on) {
  question const asked(of, wanted, on);
  std::array<priced_way, 5> all{asked.one_thread(), asked.owner_scan(), question::no_partition(),
                                asked.private_copies(), asked.atomics()};
  priced_way const& best = best_of(all, wanted, of);
  if (best.seconds * hardly_more <= asked.least_of_partition()) return best;
  all[2] = asked.partition();
  return best_of(all, wanted, of);
}

/// A way with the serial loop's bits is taken if it costs hardly more than one that has others.
priced_way const& best_of(std::array<priced_way, 5> const& all, scatter_options const& wanted, update_facts const& of) {
  priced_way const* best = &all.front();
  double least = HUGE_VAL;
  for (priced_way const& each : all) {
    bool const is_serial = each.by < way::private_copies;
    bool const is_allowed =
        is_serial || (each.by == way::atomics ? of.can.exact || wanted.required == bits::per_rank
                                              : of.can.exact_copies || wanted.required != bits::serial);
    double const price = each.seconds * (is_serial ? 1 : hardly_more);
    if (!each.possible || !is_allowed || price >= least) continue;
    best = &each;
    least = price;
  }
  return *best;
}

char const* name_of(way by) noexcept {
  constexpr std::array names{"chosen", "one_thread", "owner_scan", "partition", "private_copies", "atomics"};
  return names[static_cast<std::size_t>(by)];
}

}  // namespace coset::updates_room
