// SPDX-License-Identifier: Apache-2.0
// Reading an MSCCL algorithm: it is run on names of values instead of values. Whatever order MSCCL's thread blocks come to,
// what a receive meets is what was sent first on its connection; where buffers are written in no settled order this takes one
// of the orders, and the schedule, in which every value has a place of its own, is settled.
#include <algorithm>
#include <array>
#include <deque>
#include <istream>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/text/format.hpp"
#include "lab/foreign/foreign.hpp"
#include "lab/foreign/xml_tags.hpp"
#include "planning/schedule/core/validate.hpp"

namespace coset::schedule {
namespace {

constexpr std::int64_t most_gpus = 1 << 16, most_chunks = 1 << 20, most_offset = std::int64_t{1} << 31;
constexpr std::int64_t most_inputs = 1 << 22;  // chunks of all GPUs: 256 GPUs may have 16,384 each
constexpr std::int64_t most_moves = 1 << 23;   // chunks of all steps

/// A part of the vector as some rank holds it.
struct value {
  block_t block;
  rank_t holder;
  slot_t slot;
};

struct location {
  char buffer;
  std::int64_t chunk;
  friend auto operator<=>(location const&, location const&) = default;
};

struct instruction {
  std::string type;
  location from, to;
  std::int64_t chunks, after_block, after_step;

  bool receives() const { return type[0] == 'r' && type != "re"; }
  bool sends() const { return type == "s" || type == "rcs" || type == "rrs" || type == "rrcs"; }
  bool reduces() const { return type.starts_with("rr"); }
};

struct thread_block {
  std::int64_t send, receive, channel;
  std::vector<instruction> code;
  std::size_t done = 0;
};

struct gpu {
  std::vector<thread_block> blocks;
  std::map<location, value> held;
};

class run {
 public:
  explicit run(xml_element const& algo) {
    read_head(algo);
    for (xml_element const& each : algo.children) read_gpu(each);
    for (std::size_t r = 0; r < gpus_.size(); ++r)
      if (!is_read_[r]) throw schedule_error(text::format("there is no gpu {}", r));
    for (rank_t r = 0; r < made_.ranks; ++r) fill_inputs(r);
    execute();
    for (rank_t r = 0; r < made_.ranks; ++r) collect_results(r);
  }

  schedule take() && { return std::move(made_); }

 private:
  void read_head(xml_element const& algo) {
    if (algo.name != "algo") throw schedule_error(text::format("<{}> is no <algo>", algo.name));
    std::string const& what = algo.text("coll");
    std::string const name = what == "reducescatter" ? "reduce_scatter" : what;
    auto const known = std::ranges::find(detail::verb_rows, name, &detail::verb_row::name);
    bool const is_taken =
        known != detail::verb_rows.end() && (detail::folds_for_all(known->what) || detail::is_half(known->what));
    if (is_taken) made_.verb = known->what;
    if (!is_taken) throw schedule_error(text::format("coll is '{}', not allreduce, allgather or reducescatter", what));
    made_.algorithm = "msccl";
    made_.ranks = static_cast<rank_t>(algo.number("ngpus", most_gpus));
    chunks_ = algo.number("nchunksperloop", most_chunks);
    is_in_place_ = algo.number("inplace", 2) == 1;
    if (made_.ranks == 0 || chunks_ == 0) throw schedule_error("there are no GPUs, or no chunks");
    if (chunks_ > most_inputs / made_.ranks)
      throw schedule_error(text::format("{} GPUs with {} chunks each are too many to follow", made_.ranks, chunks_));
    if (detail::is_half(made_.verb) && chunks_ % made_.ranks != 0)
      throw schedule_error(text::format("{} chunks do not divide among {} GPUs", chunks_, made_.ranks));
    own_chunks_ = chunks_ / made_.ranks;
    for (std::int64_t c = 0; c < chunks_; ++c) made_.blocks.push_back({fraction(c, chunks_), fraction(1, chunks_)});
    gpus_.resize(made_.ranks);
    is_read_.resize(made_.ranks, false);
    steps_of_.resize(made_.ranks * static_cast<std::size_t>(chunks_));
  }

  void read_gpu(xml_element const& from) {
    if (from.name != "gpu") throw schedule_error(text::format("<{}> stands where <gpu> has to", from.name));
    auto const id = static_cast<std::size_t>(from.number("id", made_.ranks));
    if (is_read_[id]) throw schedule_error(text::format("gpu {} is there twice", id));
    is_read_[id] = true;
    for (xml_element const& each : from.children) {
      auto const number = static_cast<std::size_t>(each.number("id", most_gpus));
      if (number != gpus_[id].blocks.size())
        throw schedule_error(text::format("gpu {}: thread block {} is not in order", id, number));
      thread_block made{each.number("send", made_.ranks, true),
                        each.number("recv", made_.ranks, true),
                        each.number("chan", most_gpus, true),
                        {}};
      for (xml_element const& step : each.children) made.code.push_back(read_step(step));
      gpus_[id].blocks.push_back(std::move(made));
    }
  }

  static location read_location(xml_element const& step, char const* buffer, char const* offset) {
    std::string const& name = step.text(buffer);
    if (name != "i" && name != "o" && name != "s")
      throw schedule_error(text::format("{} is '{}', not i, o or s", buffer, name));
    return {name[0], step.number(offset, most_offset, true)};  // −1 where it is not used
  }

  instruction read_step(xml_element const& step) {
    static constexpr std::array known{"s", "r", "rcs", "rrs", "rrc", "rrcs", "cpy", "re", "nop"};
    std::string const& type = step.text("type");
    if (std::ranges::find(known, type) == known.end()) throw schedule_error(text::format("no type '{}'", type));
    std::int64_t const chunks = step.number("cnt", chunks_ + 1);
    moves_ += chunks;
    if (moves_ > most_moves)
      throw schedule_error(text::format("its steps move more than {} chunks, too many to follow", most_moves));
    return {type,   read_location(step, "srcbuf", "srcoff"), read_location(step, "dstbuf", "dstoff"),
            chunks, step.number("depid", most_gpus, true),   step.number("deps", most_offset, true)};
  }

  /// Two names of one place in a buffer that is input and output.
  location same(rank_t r, location of) const {
    if (!is_in_place_) return of;
    if (detail::gives_pieces(made_.verb) && of.buffer == 'i') return {'o', of.chunk + own_chunks_ * r};
    if (detail::gets_pieces(made_.verb) && of.buffer == 'o') return {'i', of.chunk + own_chunks_ * r};
    if (detail::folds_for_all(made_.verb) && of.buffer == 'o') return {'i', of.chunk};
    return of;
  }

  void fill_inputs(rank_t r) {
    bool const gathers = detail::gives_pieces(made_.verb);
    for (std::int64_t c = 0; c < (gathers ? own_chunks_ : chunks_); ++c) {
      auto const block = static_cast<block_t>(gathers ? c + own_chunks_ * r : c);
      gpus_[r].held[same(r, {'i', c})] = {block, r, 0};
    }
  }

  void execute() {
    for (bool advanced = true; advanced;) {
      advanced = false;
      for (rank_t r = 0; r < made_.ranks; ++r)
        for (thread_block& each : gpus_[r].blocks)
          while (each.done < each.code.size() && execute_next(r, each)) advanced = true;
    }
    for (rank_t r = 0; r < made_.ranks; ++r)
      for (std::size_t b = 0; b < gpus_[r].blocks.size(); ++b)
        if (gpus_[r].blocks[b].done < gpus_[r].blocks[b].code.size())
          throw schedule_error(
              text::format("step {} of thread block {} of gpu {} waits for ever", gpus_[r].blocks[b].done, b, r));
  }

  bool execute_next(rank_t r, thread_block& in) {
    instruction const& now = in.code[in.done];
    if (now.after_block >= 0) {
      auto const awaited = static_cast<std::size_t>(now.after_block);
      if (awaited >= gpus_[r].blocks.size())
        throw schedule_error(text::format("gpu {} has no thread block {} to wait for", r, awaited));
      if (now.after_step >= 0 && gpus_[r].blocks[awaited].done <= static_cast<std::size_t>(now.after_step))
        return false;
    }
    std::vector<value> arrived;
    if (now.receives()) {
      if (in.receive < 0) throw schedule_error(text::format("gpu {} receives of nobody", r));
      auto& connection = connections_[{static_cast<rank_t>(in.receive), r, in.channel}];
      if (connection.empty()) return false;
      arrived = std::move(connection.front());
      connection.pop_front();
      if (std::ssize(arrived) != now.chunks)
        throw schedule_error(
            text::format("gpu {} receives {} chunks where {} were sent", r, now.chunks, arrived.size()));
    }
    std::vector<value> sent;
    for (std::int64_t c = 0; c < now.chunks; ++c)
      if (now.type != "nop") sent.push_back(move(r, now, c, arrived));
    if (now.sends()) {
      if (in.send < 0) throw schedule_error(text::format("gpu {} sends to nobody", r));
      connections_[{r, static_cast<rank_t>(in.send), in.channel}].push_back(std::move(sent));
    }
    ++in.done;
    return true;
  }

  value held(rank_t r, location at) const {
    auto const found = gpus_[r].held.find(same(r, at));
    if (found == gpus_[r].held.end())
      throw schedule_error(text::format("gpu {} reads {}[{}], where nothing is", r, at.buffer, at.chunk));
    return found->second;
  }

  /// What has arrived is only noted, and copied when this rank sends it on or ends with it: a fold reads it where it is.
  value move(rank_t r, instruction const& now, std::int64_t c, std::vector<value> const& arrived) {
    location const from{now.from.buffer, now.from.chunk + c}, to{now.to.buffer, now.to.chunk + c};
    value result{};
    if (now.type == "re")
      result = fold(r, held(r, to), held(r, from));
    else if (now.reduces())
      result = fold(r, held(r, from), arrived[static_cast<std::size_t>(c)]);
    else
      result = now.receives() ? arrived[static_cast<std::size_t>(c)] : held(r, from);
    if (now.sends()) result = own(r, result);
    if (now.type != "s" && now.type != "rrs") gpus_[r].held[same(r, to)] = result;
    return result;
  }

  value own(rank_t r, value const& of) { return of.holder == r ? of : assign(r, of.block, {{of.holder, of.slot}}); }

  value fold(rank_t r, value const& left, value const& right) {
    if (left.block != right.block)
      throw schedule_error(text::format("gpu {} adds chunks {} and {}", r, left.block, right.block));
    return assign(r, left.block, {{left.holder, left.slot}, {right.holder, right.slot}});
  }

  std::vector<std::uint32_t>& steps_of(rank_t r, block_t b) {
    return steps_of_[r * static_cast<std::size_t>(chunks_) + b];
  }

  /// As early as the sources are there: of others in the step before, own ones in the same.
  value assign(rank_t r, block_t b, std::vector<source> const& from) {
    std::uint32_t step = 0;
    for (source const& s : from)
      if (s.slot != 0) step = std::max(step, steps_of(s.rank, b)[s.slot - 1] + (s.rank == r ? 0 : 1));
    steps_of(r, b).push_back(step);
    auto const slot = static_cast<slot_t>(steps_of(r, b).size());
    if (step >= made_.steps.size()) made_.steps.resize(step + 1);
    made_.steps[step].push_back(
        {r, b, slot, static_cast<std::uint32_t>(made_.sources.size()), static_cast<std::uint32_t>(from.size())});
    made_.sources.insert(made_.sources.end(), from.begin(), from.end());
    return {b, r, slot};
  }

  void collect_results(rank_t r) {
    auto& row = made_.result.emplace_back(static_cast<std::size_t>(chunks_), no_slot);
    bool const scatters = detail::gets_pieces(made_.verb);
    for (std::int64_t c = 0; c < (scatters ? own_chunks_ : chunks_); ++c) {
      auto const block = static_cast<block_t>(scatters ? c + own_chunks_ * r : c);
      value const found = held(r, {'o', c});
      if (found.block != block)
        throw schedule_error(text::format("gpu {} ends with chunk {} in the place of {}", r, found.block, block));
      row[block] = own(r, found).slot;
    }
  }

  schedule made_;
  std::int64_t chunks_ = 0, own_chunks_ = 0, moves_ = 0;
  bool is_in_place_ = false;
  std::vector<gpu> gpus_;
  std::vector<bool> is_read_;
  std::map<std::tuple<rank_t, rank_t, std::int64_t>, std::deque<std::vector<value>>> connections_;
  std::vector<std::vector<std::uint32_t>> steps_of_;  // [rank, block][slot − 1]
};

}  // namespace

schedule read_msccl(std::istream& in, std::string const& origin) {
  try {
    std::string const text{std::istreambuf_iterator<char>(in), {}};
    return run(read_xml(text)).take();
  } catch (schedule_error const& e) {
    throw schedule_error(text::format("{} is no algorithm of MSCCL that can be read: {}", origin, e.what()));
  }
}

}  // namespace coset::schedule
