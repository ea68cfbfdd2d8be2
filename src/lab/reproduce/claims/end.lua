-- SPDX-License-Identifier: Apache-2.0
source {
  name = "end",
  paper = "V. End et al.: Butterfly-like Algorithms for GASPI Split Phase Allreduce",
}

local function dissemination(n) return string.format("dissemination(n=%d)", n) end
local function adapted(n) return string.format("adapted_dissemination(n=%d)", n) end
local function bruck_ho(n) return string.format("bruck_ho(n=%d)", n) end

local function is_not_power(p) return not is_power(p) end

-- Pairs of n and a number of ranks.
local function pairs_to(most_n, most_ranks, is_wanted)
  local all = {}
  for n = 1, most_n do
    for p = 2, most_ranks do
      if not is_wanted or is_wanted(n, p) then all[#all + 1] = setmetatable({n = n, p = p}, {__tostring = function(c)
        return string.format("n = %d on %d ranks", c.n, c.p)
      end}) end
    end
  end
  return all
end
local function is_power_of(base, p)
  while p % base == 0 do p = p // base end
  return p == 1
end

-- What a schedule of one block holds, as lists of ranks in the order in which they are folded: after(step, rank), the last
-- value that a rank made until then; of(rank, slot); result(rank).
local function folded(of)
  local held, history = {}, {}
  for rank = 0, of.ranks - 1 do held[rank] = {[0] = {rank}} end
  local last = {}
  for at, step in ipairs(of.steps) do
    local made = {}
    for _, a in ipairs(step) do
      local list = {}
      for _, from in ipairs(a.from) do
        local part = from.rank == a.rank and made[a.rank] and made[a.rank][from.slot] or held[from.rank][from.slot]
        table.move(part, 1, #part, #list + 1, list)
      end
      made[a.rank] = made[a.rank] or {}
      made[a.rank][a.slot] = list
      last[a.rank] = list
    end
    for rank, slots in pairs(made) do
      for slot, list in pairs(slots) do held[rank][slot] = list end
    end
    history[at] = {}
    for rank = 0, of.ranks - 1 do history[at][rank] = last[rank] end
  end
  return {
    after = function(step, rank) return history[step][rank] end,
    of = function(rank, slot) return held[rank][slot] end,
    result = function(rank) return held[rank][of.result[rank + 1][1]] end,
  }
end
local function reversed(list)
  local made = {}
  for i = #list, 1, -1 do made[#made + 1] = list[i] end
  return made
end
local function times_of(list)
  local times = {}
  for _, rank in ipairs(list) do times[rank] = (times[rank] or 0) + 1 end
  return times
end
-- How many ranks a predicate holds for, of how often they have the contribution that they have least often, and most often.
local function ranks_that(algorithm, p, holds)
  local value, count = folded(plan(algorithm, p)), 0
  for rank = 0, p - 1 do
    local times = times_of(value.result(rank))
    local least_times, most_times = math.huge, 0
    for from = 0, p - 1 do
      least_times, most_times = math.min(least_times, times[from] or 0), math.max(most_times, times[from] or 0)
    end
    if holds(least_times, most_times) then count = count + 1 end
  end
  return count
end
local function are_all_once(algorithm, p)
  return ranks_that(algorithm, p, function(few, many) return few == 1 and many == 1 end) == p
end

-- The dissemination as it is printed: in round l a rank folds what the ranks j(n+1)^(l−1) before it have, j = 1 … n, also
-- where that is a rank twice, or itself. How often it has the value of the rank d before it.
local function printed_dissemination(n, p)
  local times, distance = {}, 1
  for d = 0, p - 1 do times[d] = d == 0 and 1 or 0 end
  while distance < p do
    local next_times = {}
    for d = 0, p - 1 do
      next_times[d] = 0
      for j = 0, n do next_times[d] = next_times[d] + times[(d - j * distance) % p] end
    end
    times, distance = next_times, distance * (n + 1)
  end
  return times
end
local function most_times(times, p)
  return most(numbers(0, p - 1), function(d) return times[d] end)
end
-- All ranks do the same, each turned by its number; so two have the same sum if a turn leaves it as it is.
local function has_equal_turn(times, p)
  for turn = 1, p - 1 do
    local is_equal = true
    for d = 0, p - 1 do is_equal = is_equal and times[d] == times[(d + turn) % p] end
    if is_equal then return true end
  end
  return false
end

-- Where values may be cut before the last round: the own value alone, or after j messages of round l.
local function boundaries(n, p)
  local reach, all = 1, {1}
  while reach * (n + 1) < p do
    for j = 1, n do all[#all + 1] = (j + 1) * reach end
    reach = reach * (n + 1)
  end
  return all, reach
end
-- All ways to have every contribution once: `whole` messages, the last of them cut at the sender's boundary `sent`; the
-- receiver leaves out what it has up to its boundary `left_out`.
local function adaptations(n, p)
  local all, reach = boundaries(n, p)
  local found = {}
  for whole = 1, n do
    for _, sent in ipairs(all) do
      if whole * reach + sent == p then found[#found + 1] = {whole = whole, sent = sent, left_out = 0} end
      for _, left_out in ipairs(all) do
        if whole * reach + sent - left_out == p then
          found[#found + 1] = {whole = whole, sent = sent, left_out = left_out}
        end
      end
    end
  end
  return found, reach
end
local function is_adaptable(n, p) return not refusal(adapted(n), p) end
local function is_not_adaptable(n, p) return not is_adaptable(n, p) end
-- The source's choice.
local function least_n(p)
  local n = 1
  while not is_adaptable(n, p) do n = n + 1 end
  return n
end

local function sorted_texts(list)
  table.sort(list)
  return join(list)
end
-- Whom a rank sends to in each step, mine = "from", or reads, mine = "to": "6, 7; 3, 5".
local function peers(steps, rank, mine, other)
  local texts = {}
  for i, step in ipairs(steps) do
    local all = {}
    for _, message in ipairs(step) do
      if message[mine] == rank then all[#all + 1] = message[other] end
    end
    texts[i] = sorted_texts(all)
  end
  return join(texts, "; ")
end
local function count_messages(step, mine)
  local count = {}
  for _, message in ipairs(step) do count[message[mine]] = (count[message[mine]] or 0) + 1 end
  return count
end
local function are_all_busy(step, p)
  local sent, received = count_messages(step, "from"), count_messages(step, "to")
  for rank = 0, p - 1 do
    if not sent[rank] or not received[rank] then return false end
  end
  return true
end
-- The vectors that the busiest rank combines in a step.
local function most_combined(step, p)
  return most(numbers(0, p - 1), function(rank) return step.combined[rank] or 0 end) / p
end
-- How many messages of a step have another one that goes the opposite way, and how many there are.
local function opposites(step)
  local all, count = pairs_of(step), 0
  for _, message in ipairs(step) do
    if all[message.to .. ">" .. message.from] then count = count + 1 end
  end
  return count, #step
end
local function has_opposites(algorithm, p)
  for _, step in ipairs(messages(algorithm, p)) do
    if opposites(step) > 0 then return true end
  end
  return false
end

-- The four routines that the figures compare, and the networks that they are priced on: the source does not give its costs.
-- A network card has several messages under way at once, which share its bandwidth.
local exchange = function() return "pairwise_exchange" end
local adapted_least = function(p) return adapted(least_n(p)) end
local bruck = function() return bruck_ho(5) end
local tree = function() return "binomial" end
local routines = {
  {name = "pairwise exchange", of = exchange},
  {name = "adapted dissemination", of = adapted_least},
  {name = "Bruck and Ho, n = 5", of = bruck},
  {name = "binomial tree", of = tree},
}
local butterflies = {exchange, adapted_least, bruck}
local shared, one_by_one, full_links = {at_once = 5}, {}, {ports = 5}
local one_int, doubles = 4, 255 * 8

local function routine_time(routine, p, bytes, network) return time(routine(p), p, bytes, network) end
-- Whether no other is faster by more than 1 %.
local function is_least(routine, p, bytes, network)
  local own = routine_time(routine, p, bytes, network)
  for _, other in ipairs(routines) do
    if routine_time(other.of, p, bytes, network) < 0.99 * own then return false end
  end
  return true
end
local function count_if(cases, holds)
  local count, which = 0, {}
  for _, case in ipairs(cases) do
    if holds(case) then
      count = count + 1
      which[#which + 1] = tostring(case)
    end
  end
  return count, which
end
local function shown_count(cases, holds)
  local count, which = count_if(cases, holds)
  local text = string.format("%d of %d", count, #cases)
  if count > 0 and count <= 8 then text = text .. ": " .. join(which) end
  return count, text
end
-- One question, asked of two networks.
local function on_both(asks, agrees, disagrees, numbers_of)
  return {
    {
      asks = asks .. ", five messages at once that share a card",
      model = function() return numbers_of(shared) end,
      agrees = agrees,
      disagrees = disagrees,
    },
    {
      asks = "the same, one message at once",
      model = function() return numbers_of(one_by_one) end,
      agrees = agrees,
      disagrees = disagrees,
    },
  }
end
local function run_needed(what)
  return function() return nil, "needs a run: " .. what end
end
local function not_simulated() return nil, "not simulated: there is no experiment for this source" end

-- §I: what is known of trees and butterflies

claim {
  id = "E-s1a",
  where = "§I; trees",
  says = "have to be run through twice, leading to a total of",
  asks = "numbers of ranks from 2 to 256 on which reducing and spreading along a binomial tree does not take 2⌈log₂P⌉ "
    .. "rounds",
  counts = function()
    return exceptions(numbers(2, 256), "%d ranks", function(p)
      local steps = #messages("binomial", p)
      return steps == 2 * ceil_log(p), steps .. " rounds"
    end)
  end,
  agrees = "= 0",
  disagrees = "> 0",
}

claim {
  id = "E-s1b",
  where = "§I; trees",
  says = "a large part of the participating ranks remain idling",
  parts = {
    {
      asks = "part of the ranks that neither send nor receive along a binomial tree, in the mean of its rounds, on 8 to "
        .. "128 ranks",
      counts = function()
        return each(numbers(8, 128), "%d ranks", function(p)
          local idle, steps = 0, messages("binomial", p)
          for _, step in ipairs(steps) do idle = idle + idle_ranks(step, p) end
          return idle / p / #steps
        end)
      end,
      agrees = ">= 0.4",
      disagrees = "< 0.25",
    },
    {
      asks = "ranks that are idle in some round of dissemination or of Bruck and Ho's algorithm, n = 1, 2 and 5, on 2 to "
        .. "64 ranks",
      counts = function()
        local idle = 0
        for _, n in ipairs {1, 2, 5} do
          for p = 2, 64 do
            for _, algorithm in ipairs {dissemination(n), bruck_ho(n)} do
              for _, step in ipairs(messages(algorithm, p)) do idle = idle + idle_ranks(step, p) end
            end
          end
        end
        return idle
      end,
      agrees = "= 0",
      disagrees = "> 0",
    },
  },
}

claim {
  id = "E-s1c",
  where = "§I, §III-D; n-way",
  says = "communication rounds and involve all ranks in every round",
  asks = "n from 1 to 8 and numbers of ranks from 2 to 64 with which dissemination or Bruck and Ho's algorithm has other "
    .. "than ⌈log_(n+1)P⌉ rounds, or a rank that does not both send and receive in one",
  counts = function()
    return exceptions(pairs_to(8, 64), "%s", function(c)
      for _, algorithm in ipairs {dissemination(c.n), bruck_ho(c.n)} do
        local steps = messages(algorithm, c.p)
        if #steps ~= ceil_log(c.p, c.n + 1) then return false, #steps .. " rounds" end
        for _, step in ipairs(steps) do
          if not are_all_busy(step, c.p) then return false, "an idle rank" end
        end
      end
      return true
    end)
  end,
  agrees = "= 0",
  disagrees = "> 0",
}

claim {
  id = "E-s1d",
  where = "§I; butterfly",
  says = "but it is also only fit for",
  parts = {
    {
      asks = "numbers of ranks from 2 to 64 that are no power of two and where each rank has a partner p XOR 2^(l−1) in "
        .. "each round, or that are one and where some rank has none",
      counts = function()
        return exceptions(numbers(2, 64), "%d ranks", function(p)
          local have_partners = true
          for round = 0, ceil_log(p) - 1 do
            for rank = 0, p - 1 do have_partners = have_partners and (rank ~ 1 << round) < p end
          end
          return have_partners == is_power(p)
        end)
      end,
      agrees = "= 0",
      disagrees = "> 0",
    },
    {
      asks = "those that are no power of two and where the butterfly has every contribution once on each rank, with ranks "
        .. "that play others, or that are one and where it has not",
      counts = function()
        return exceptions(numbers(2, 64), "%d ranks", function(p) return are_all_once("butterfly", p) == is_power(p) end)
      end,
      agrees = "= 0",
      disagrees = "> 0",
    },
  },
}

claim {
  id = "E-s1e",
  where = "§I; split phase",
  says = "ideally require a minimum number of steps",
  parts = {
    {
      asks = "numbers of ranks from 2 to 128 on which one of the other three routines has fewer rounds than Bruck and Ho's "
        .. "algorithm with n = 5",
      counts = function()
        return exceptions(numbers(2, 128), "%d ranks", function(p)
          local own = #messages(bruck(p), p)
          for _, other in ipairs(routines) do
            if #messages(other.of(p), p) < own then return false, other.name end
          end
          return true
        end)
      end,
      agrees = "= 0",
      disagrees = "> 0",
    },
    {
      asks = "calls until a started allreduce has ended, beyond its rounds",
      run = run_needed("how often a started allreduce is tested until it has ended"),
      agrees = "<= 1",
      disagrees = "> 1",
    },
  },
}

-- §III-A: butterfly and pairwise exchange

claim {
  id = "E-1a",
  where = "§III-A, Fig. 1 left; P = 5",
  says = "makes the algorithm unusable for non-idempotent allreduce operations",
  parts = {
    {
      asks = "ranks of 5 that have a contribution more than once after the butterfly, so that their sum is wrong",
      counts = function() return ranks_that("butterfly", 5, function(_, many) return many > 1 end) end,
      agrees = ">= 1",
      disagrees = "= 0",
    },
    {
      asks = "ranks of 5 that lack a contribution, so that their maximum is wrong",
      counts = function() return ranks_that("butterfly", 5, function(few) return few == 0 end) end,
      agrees = "= 0",
      disagrees = "> 0",
    },
    {
      asks = "messages to ranks 0 to 4 of a butterfly of 8, where 0, 1 and 2 play 5, 6 and 7, that the schedule has not",
      counts = function()
        local steps, all, missing = messages("butterfly", 5), {}, {}
        for round = 0, 2 do
          local found = pairs_of(steps[round + 1])
          for rank = 0, 4 do
            local partner = (rank ~ 1 << round) % 5
            local text = string.format("%d>%d in round %d", partner, rank, round + 1)
            all[#all + 1], missing[text] = text, partner ~= rank and not found[partner .. ">" .. rank]
          end
        end
        return exceptions(all, "%s", function(text) return not missing[text] end)
      end,
      agrees = "= 0",
      disagrees = "> 0",
    },
  },
}

claim {
  id = "E-1b",
  where = "§III-A, Fig. 1 right; PE",
  says = "identical to the previous algorithm if",
  parts = {
    {
      asks = "powers of two to 64 on which pairwise exchange sends other messages than the butterfly",
      counts = function()
        return exceptions(numbers(2, 64, is_power), "%d ranks", function(p)
          return same_messages("pairwise_exchange", "butterfly", p)
        end)
      end,
      agrees = "= 0",
      disagrees = "> 0",
    },
    {
      asks = "other numbers to 64 on which it has not K+2 rounds, 2^K being the greatest power of two below",
      counts = function()
        return exceptions(numbers(3, 64, is_not_power), "%d ranks", function(p)
          return #messages("pairwise_exchange", p) == floor_log(p) + 2
        end)
      end,
      agrees = "= 0",
      disagrees = "> 0",
    },
    {
      asks = "its rounds on 5 ranks, and the messages of the first and the last of them",
      counts = function()
        local steps, texts = messages("pairwise_exchange", 5), {}
        for i, step in ipairs {steps[1], steps[#steps]} do
          local all = {}
          for pair in pairs(pairs_of(step)) do all[#all + 1] = pair end
          texts[i] = sorted_texts(all)
        end
        local text = string.format("%d rounds, %s first, %s last", #steps, texts[1], texts[2])
        return is_text(text, "4 rounds, 4>0 first, 0>4 last")
      end,
      agrees = "= 1",
      disagrees = "= 0",
    },
  },
}

local four_switches_in_line = [=[{"graph": [["s0", "s1"], ["s1", "s2"], ["s2", "s3"]],
  "ranks": ["s0", "s0", "s0", "s0", "s1", "s1", "s1", "s1", "s2", "s2", "s2", "s2", "s3", "s3", "s3", "s3"]}]=]

claim {
  id = "E-s3a",
  where = "§III-A; butterfly",
  says = "quickly leads to congestion in network topologies where there is exactly one link",
  parts = {
    {
      asks = "part of a butterfly's messages whose opposite is sent in the same round, on powers of two to 64",
      counts = function()
        return each(numbers(2, 64, is_power), "%d ranks", function(p)
          local opposite, all = 0, 0
          for _, step in ipairs(messages("butterfly", p)) do
            local found, sent = opposites(step)
            opposite, all = opposite + found, all + sent
          end
          return opposite / all
        end)
      end,
      agrees = "= 1",
      disagrees = "= 0",
    },
    {
      asks = "what its transfers take by what they would take alone, on 16 ranks below four switches in a line with one "
        .. "link between neighbours",
      model = function() return price("butterfly", 16, doubles, {links = four_switches_in_line}).contention end,
      agrees = ">= 1.5",
      disagrees = "<= 1.1",
    },
    {
      asks = "the same, of simulated messages",
      simulation = not_simulated,
      agrees = ">= 1.5",
      disagrees = "<= 1.1",
    },
  },
}

-- §III-B: dissemination

claim {
  id = "E-s3b",
  where = "§III-B; plain",
  says = "the result will be wrong and different on all participating nodes",
  asks = "n from 1 to 8 and numbers of ranks to 64 that are no power of n+1, with which two ranks have the same sum of "
    .. "distinct powers of two, or all the right one",
  counts = function()
    local cases = pairs_to(8, 64, function(n, p) return not is_power_of(n + 1, p) end)
    return exceptions(cases, "%s", function(c)
      local times = printed_dissemination(c.n, c.p)
      local is_right = most_times(times, c.p) == 1
      return not is_right and not has_equal_turn(times, c.p), is_right and "right" or "equal sums"
    end)
  end,
  run = run_needed("sums of distinct powers of two by dissemination"),
  agrees = "= 0",
  disagrees = "> 0",
  finds = {counts = "disagrees"},
  because = "sums are wrong everywhere; but where P divides (n+1)^⌈log_(n+1)P⌉, as 2 divides 4 with n = 3, all ranks have "
    .. "every contribution equally often, and so the same wrong sum; a schedule that reads a rank once that comes twice in "
    .. "a round is even right where (n+1)^(k−1) divides P, as on 6 ranks with n = 2",
}

claim {
  id = "E-s3c",
  where = "§III-B; barrier, maximum",
  says = "does not seriously impact the runtime and especially it does not alter the result",
  asks = "n from 1 to 8 and numbers of ranks to 64 with which some rank lacks a contribution after plain dissemination",
  counts = function()
    return exceptions(pairs_to(8, 64), "%s", function(c)
      return ranks_that(dissemination(c.n), c.p, function(few) return few == 0 end) == 0
    end)
  end,
  run = run_needed("maxima by dissemination"),
  agrees = "= 0",
  disagrees = "> 0",
}

local function times_shown(algorithm, p)
  local count = {}
  for _, times in pairs(times_of(folded(plan(algorithm, p)).result(0))) do count[times] = (count[times] or 0) + 1 end
  local texts = {}
  for times = 1, 9 do
    if count[times] then texts[#texts + 1] = string.format("%d contributions %d×", count[times], times) end
  end
  return join(texts)
end

claim {
  id = "E-2",
  where = "Fig. 2; 2-way, 5 ranks",
  says = "Comparison of the 2-way dissemination algorithm",
  parts = {
    {
      asks = "how often rank 0 has contributions after plain dissemination",
      counts = function() return is_text(times_shown(dissemination(2), 5), "1 contributions 1×, 4 contributions 2×") end,
      agrees = "= 1",
      disagrees = "= 0",
    },
    {
      asks = "how often after the adapted one",
      counts = function() return is_text(times_shown(adapted(2), 5), "5 contributions 1×") end,
      agrees = "= 1",
      disagrees = "= 0",
    },
  },
}

-- Of each rank of 9, and of 8: whose values it has after the first round, its own first, and whose partial results it folds
-- in the second.
local cells = {
  [9] = {
    {"087", "108", "210", "321", "432", "543", "654", "765", "876"},
    {"063", "174", "285", "306", "417", "528", "630", "741", "852"},
  },
  [8] = {
    {"076", "107", "210", "321", "432", "543", "654", "765"},
    {"052", "163", "274", "305", "416", "527", "630", "741"},
  },
}

claim {
  id = "E-t1",
  where = "Table I; n = 2, 9 and 8 ranks",
  says = "ROUND-WISE COMPUTATION OF PARTIAL RESULTS",
  asks = "cells of the two rounds, on 9 and on 8 ranks, in which another value stands",
  counts = function()
    local all = {}
    for _, p in ipairs {9, 8} do
      local of = plan(dissemination(2), p)
      local after = folded(of).after
      for rank = 0, p - 1 do
        local readers = {}
        for _, a in ipairs(of.steps[2]) do
          if a.rank == rank then
            for _, from in ipairs(a.from) do readers[#readers + 1] = from.rank end
          end
        end
        all[#all + 1] = {p, 1, rank, join(reversed(after(1, rank)), "")}
        all[#all + 1] = {p, 2, rank, join(reversed(readers), "")}
      end
    end
    local texts, wrong = {}, {}
    for i, cell in ipairs(all) do
      texts[i] = string.format("rank %d of %d, round %d", cell[3], cell[1], cell[2])
      wrong[texts[i]] = cells[cell[1]][cell[2]][cell[3] + 1] ~= cell[4] and cell[4]
    end
    return exceptions(texts, "%s", function(text) return not wrong[text], wrong[text] end)
  end,
  agrees = "= 0",
  disagrees = "> 0",
}

claim {
  id = "E-e3",
  where = "(3)",
  says = "the reduction operation has been applied twice to",
  asks = "whose values rank 0 of 8 has in its result, in their order, its own first",
  counts = function()
    return is_text(join(reversed(folded(plan(dissemination(2), 8)).result(0)), " "), "0 7 6 5 4 3 2 1 0")
  end,
  agrees = "= 1",
  disagrees = "= 0",
}

claim {
  id = "E-e4",
  where = "(4)",
  says = "the number of included initial data elements is described through",
  asks = "rounds l of n from 1 to 8 on 2 to 64 ranks after which a rank has not (n+1)^l elements; the last round where P "
    .. "is a power of n+1 alone",
  counts = function()
    return exceptions(pairs_to(8, 64), "%s", function(c)
      local of = plan(dissemination(c.n), c.p)
      local after, rounds = folded(of).after, #of.steps
      for round = 1, is_power_of(c.n + 1, c.p) and rounds or rounds - 1 do
        for rank = 0, c.p - 1 do
          if #after(round, rank) ~= (c.n + 1) ^ round then return false, "round " .. round end
        end
      end
      return true
    end)
  end,
  agrees = "= 0",
  disagrees = "> 0",
}

claim {
  id = "E-s3k",
  where = "§III-B; omission",
  says = "thus saving additional computation time at the end",
  parts = {
    {
      asks = "values that a rank combines in the last round of the adapted dissemination beyond the n of the plain one, at "
        .. "most, n = 1, 2 and 5, to 64 ranks",
      counts = function()
        return each({1, 2, 5}, "n = %d", function(n)
          local cases = numbers(2, 64, function(p) return is_adaptable(n, p) end)
          return most(cases, function(p)
            local steps = messages(adapted(n), p)
            return most_combined(steps[#steps], p) - n
          end)
        end)
      end,
      agrees = "<= 0",
      disagrees = "> 0",
    },
    {
      asks = "values that it combines in all rounds by those that the plain one combines, n in each, at most",
      counts = function()
        return each({1, 2, 5}, "n = %d", function(n)
          local cases = numbers(2, 64, function(p) return is_adaptable(n, p) end)
          return most(cases, function(p)
            local all = 0
            for _, step in ipairs(messages(adapted(n), p)) do all = all + most_combined(step, p) end
            return all / n / ceil_log(p, n + 1)
          end)
        end)
      end,
      agrees = "<= 2",
      disagrees = "> 2",
    },
  },
}

claim {
  id = "E-s3d",
  where = "§III-B",
  says = "the final result will include data of at least one rank twice",
  asks = "n from 1 to 8 and numbers of ranks to 64 that are no power of n+1, with which no contribution comes twice",
  counts = function()
    local cases = pairs_to(8, 64, function(n, p) return not is_power_of(n + 1, p) end)
    return exceptions(cases, "%s", function(c) return most_times(printed_dissemination(c.n, c.p), c.p) > 1 end)
  end,
  agrees = "= 0",
  disagrees = "> 0",
  because = "so it is as printed; a schedule that reads a rank once that comes twice in a round, as ours, is right where "
    .. "(n+1)^(k−1) divides P, as on 6 ranks with n = 2",
}

claim {
  id = "E-3",
  where = "Fig. 3; n = 2, P = 8",
  says = "the first sender in the last round, that is rank 5, transfers its partial result",
  asks = "what ranks 5 and 2 send to rank 0 in the last round of the adapted dissemination",
  counts = function()
    local of = plan(adapted(2), 8)
    local value, texts = folded(of), {}
    for _, a in ipairs(of.steps[2]) do
      for _, from in ipairs(a.from) do
        if a.rank == 0 and from.rank ~= 0 then
          texts[#texts + 1] = from.rank .. ": " .. join(reversed(value.of(from.rank, from.slot)), " ")
        end
      end
    end
    return is_text(sorted_texts(texts), "2: 2 1, 5: 5 4 3")
  end,
  agrees = "= 1",
  disagrees = "= 0",
}

claim {
  id = "E-e8",
  where = "(7), (8)",
  says = "the algorithm is adaptable, if there are boundaries on the source rank that coincide",
  parts = {
    {
      asks = "n from 1 to 8 and numbers of ranks to 128 that have coinciding boundaries and no adapted schedule that is "
        .. "right, or have none and a schedule",
      counts = function()
        return exceptions(pairs_to(8, 128), "%s", function(c)
          local is_right = is_adaptable(c.n, c.p) and are_all_once(adapted(c.n), c.p)
          return is_right == (#adaptations(c.n, c.p) > 0)
        end)
      end,
      agrees = "= 0",
      disagrees = "> 0",
    },
    {
      asks = "on how many numbers of ranks from 2 to 128 it is adaptable with n = 1, 2, 3, 4 and 8",
      counts = function()
        local found = {}
        for i, n in ipairs {1, 2, 3, 4, 8} do
          found[i] = count_if(numbers(2, 128), function(p) return is_adaptable(n, p) end)
        end
        return is_text(join(found), "63, 95, 115, 127, 127")
      end,
      agrees = "= 1",
      disagrees = "= 0",
    },
  },
}

claim {
  id = "E-th1",
  where = "Theorem 1, cases 1–5",
  says = "is adapted through one of the following cases",
  parts = {
    {
      asks = "of five cases those that occur with n from 1 to 8 on 2 to 128 ranks: the last sender sends up to one of its "
        .. "boundaries, its own value alone, or nothing; or more, and the receiver leaves out its own value, or more",
      counts = function()
        local count, texts = {0, 0, 0, 0, 0}, {}
        for _, c in ipairs(pairs_to(8, 128)) do
          for _, way in ipairs(adaptations(c.n, c.p)) do
            local case = way.left_out == 0 and (way.sent > 1 and 1 or 2) or way.sent == way.left_out and 3
              or way.left_out == 1 and 4 or 5
            count[case] = count[case] + 1
          end
        end
        local occur = count_if({1, 2, 3, 4, 5}, function(case) return count[case] > 0 end)
        return occur, occur .. "; ways in each: " .. join(count)
      end,
      agrees = "= 5",
      disagrees = "< 5",
    },
    {
      asks = "ways of them with which a contribution does not come exactly once",
      counts = function()
        local wrong, all = 0, 0
        for _, c in ipairs(pairs_to(8, 128)) do
          local ways, reach = adaptations(c.n, c.p)
          for _, way in ipairs(ways) do
            local times = {}
            for d = way.left_out, way.whole * reach + way.sent - 1 do times[d % c.p] = (times[d % c.p] or 0) + 1 end
            local is_exact = true
            for d = 0, c.p - 1 do is_exact = is_exact and times[d] == 1 end
            wrong, all = wrong + (is_exact and 0 or 1), all + 1
          end
        end
        return wrong, string.format("%d of %d", wrong, all)
      end,
      agrees = "= 0",
      disagrees = "> 0",
    },
    {
      asks = "ways of the third case in which the first sender is the last one, s = 1, so that the algorithm would end a "
        .. "round earlier: P = (n+1)^(k−1) has k−1 rounds from the start",
      counts = function()
        local found = 0
        for _, c in ipairs(pairs_to(8, 128)) do
          for _, way in ipairs(adaptations(c.n, c.p)) do
            if way.whole == 1 and way.sent == way.left_out then found = found + 1 end
          end
        end
        return found
      end,
      agrees = "= 0",
      disagrees = "> 0",
    },
  },
}

-- §III-C: Bruck and Ho

claim {
  id = "E-4",
  where = "Fig. 4, (15)–(23); P = 8, n = 2",
  says = "Communication scheme of Bruck's global combine algorithm for",
  parts = {
    {
      asks = "7 in base 3",
      counts = function() return is_text(string.format("%d%d", 7 // 3, 7 % 3), "21") end,
      agrees = "= 1",
      disagrees = "= 0",
    },
    {
      asks = "whom rank 0 sends to in the two rounds",
      counts = function() return is_text(peers(messages(bruck_ho(2), 8), 0, "from", "to"), "6, 7; 3, 5") end,
      agrees = "= 1",
      disagrees = "= 0",
    },
    {
      asks = "whom it reads in them",
      counts = function() return is_text(peers(messages(bruck_ho(2), 8), 0, "to", "from"), "1, 2; 3, 5") end,
      agrees = "= 1",
      disagrees = "= 0",
    },
  },
}

claim {
  id = "E-e24",
  where = "(24)",
  says = "Then, rank 0 can compute the final result",
  asks = "what rank 0 of 8 folds at the end, n = 2: its own value of the round before, then each that it reads",
  counts = function()
    local of = plan(bruck_ho(2), 8)
    local value, texts = folded(of), {}
    for _, a in ipairs(of.steps[2]) do
      if a.rank == 0 then
        texts = {}
        for _, from in ipairs(a.from) do
          local text = join(value.of(from.rank, from.slot), " ")
          texts[#texts + 1] = from.rank == 0 and text or "(" .. text .. ")"
        end
      end
    end
    return is_text(join(texts, " "), "0 1 2 (3 4 5) (6 7)")
  end,
  agrees = "= 1",
  disagrees = "= 0",
}

claim {
  id = "E-s3e",
  where = "§III-C",
  says = "every participating process transfers and receives",
  asks = "rounds on 2 to 64 ranks, n = 1, 2 and 5, in which a rank does not send and receive n results",
  counts = function()
    local texts, is_full = {}, {}
    for _, n in ipairs {1, 2, 5} do
      for p = 2, 64 do
        for round, step in ipairs(messages(bruck_ho(n), p)) do
          local text = string.format("n = %d on %d ranks, round %d", n, p, round)
          local sent, received = count_messages(step, "from"), count_messages(step, "to")
          texts[#texts + 1], is_full[text] = text, true
          for rank = 0, p - 1 do is_full[text] = is_full[text] and sent[rank] == n and received[rank] == n end
        end
      end
    end
    return exceptions(texts, "%s", function(text) return is_full[text] end)
  end,
  agrees = "= 0",
  disagrees = "> 0",
  finds = "disagrees",
  because = "in the first round ranks exchange as many results as the leading digit of P−1 in base n+1 says, which is n at "
    .. "few P; in all further rounds there are n",
}

-- §III-D: compared

claim {
  id = "E-s3f",
  where = "§III-D",
  says = "The pairwise exchange algorithm needs",
  asks = "numbers of ranks from 3 to 64 that are no powers of two on which it has not ⌈log₂P⌉+2 rounds",
  counts = function()
    return exceptions(numbers(3, 64, is_not_power), "%d ranks", function(p)
      local steps = #messages("pairwise_exchange", p)
      return steps == ceil_log(p) + 2, steps .. " rounds"
    end)
  end,
  agrees = "= 0",
  disagrees = "> 0",
  finds = "disagrees",
  because = "the ranks beyond the greatest power of two below P take one round before and one after its ⌊log₂P⌋: 4 rounds "
    .. "on 5 ranks, as the source's Figure 1 shows, not 5",
}

claim {
  id = "E-s3g",
  where = "§III-D; PE",
  says = "ranks will be idling in the PE algorithm",
  asks = "numbers of ranks from 3 to 64 that are no powers of two on which in a round but the first and last other than "
    .. "the q ranks are idle that are beyond the greatest power of two",
  counts = function()
    return exceptions(numbers(3, 64, is_not_power), "%d ranks", function(p)
      local steps = messages("pairwise_exchange", p)
      for round = 2, #steps - 1 do
        if idle_ranks(steps[round], p) ~= p - power_below(p) then return false, "round " .. round end
      end
      return true
    end)
  end,
  agrees = "= 0",
  disagrees = "> 0",
}

claim {
  id = "E-s3h",
  where = "§III-D",
  says = "dissemination algorithm can not be adapted for all pairs",
  parts = {
    {
      asks = "n from 1 to 8 and numbers of ranks to 128 for which there is no adapted dissemination",
      counts = function()
        local by_n = {}
        for n = 1, 8 do
          by_n[n] = count_if(numbers(2, 128), function(p) return is_not_adaptable(n, p) end)
        end
        local sum = 0
        for _, count in ipairs(by_n) do sum = sum + count end
        return sum, sum .. "; by n: " .. join(by_n)
      end,
      agrees = "> 0",
      disagrees = "= 0",
    },
    {
      asks = "those for which Bruck and Ho's algorithm has a contribution other than once",
      counts = function()
        return exceptions(pairs_to(8, 128), "%s", function(c)
          return not refusal(bruck_ho(c.n), c.p) and are_all_once(bruck_ho(c.n), c.p)
        end)
      end,
      agrees = "= 0",
      disagrees = "> 0",
    },
  },
}

claim {
  id = "E-s3i",
  where = "§III-D",
  says = "This will not happen in the butterfly-like schemes",
  parts = {
    {
      asks = "numbers of ranks from 2 to 64 on which two ranks send to each other in one round of Bruck and Ho's "
        .. "algorithm, n = 2",
      counts = function() return shown_count(numbers(2, 64), function(p) return has_opposites(bruck_ho(2), p) end) end,
      agrees = "= 0",
      disagrees = "> 0",
    },
    {
      asks = "the same, n = 5",
      counts = function() return shown_count(numbers(2, 64), function(p) return has_opposites(bruck_ho(5), p) end) end,
      agrees = "= 0",
      disagrees = "> 0",
    },
    {
      asks = "the same of adapted dissemination, with the least n that there is",
      counts = function()
        return shown_count(numbers(2, 64), function(p) return has_opposites(adapted_least(p), p) end)
      end,
      agrees = "= 0",
      disagrees = "> 0",
    },
    {
      asks = "pairs of ranks that send to each other in Table I, 9 ranks, n = 2, in the second round",
      counts = function() return opposites(messages(dissemination(2), 9)[2]) / 2 end,
      agrees = "= 0",
      disagrees = "> 0",
    },
  },
  finds = "disagrees",
  because = "they do so in the source's own examples, 0 and 3 on 9 ranks in Table I, 0 and 3, 0 and 5 in Bruck and Ho's "
    .. "scheme on 8: wherever the distances of a round have two that sum to P, or one that is half of it",
}

claim {
  id = "E-s3j",
  where = "§III-D; alternatives",
  says = "to transfer larger messages in the communication rounds",
  asks = "n from 1 to 8 and numbers of ranks to 128 without adapted dissemination for which no schedule has ⌈log_(n+1)P⌉ "
    .. "rounds; tried is the one that folds along radix n+1",
  counts = function()
    return exceptions(pairs_to(8, 128, is_not_adaptable), "%s", function(c)
      return counts(string.format("latency(radix=%d)", c.n + 1), c.p).steps == ceil_log(c.p, c.n + 1)
    end)
  end,
  agrees = "= 0",
  disagrees = "> 0",
}

claim {
  id = "E-6",
  where = "Fig. 6",
  says = "increases by a factor of up to 1.84 and with 255 doubles",
  not_judged = "a library against its own transport: it needs InfiniBand and its verbs",
}

-- §IV: measured

claim {
  id = "E-s4a",
  where = "§IV; n",
  says = "the smallest n possible is chosen",
  parts = {
    {
      asks = "numbers of ranks from 2 to 28 on which coinciding boundaries allow a smaller n than the one that is priced "
        .. "here",
      counts = function()
        return exceptions(numbers(2, 28), "%d ranks", function(p)
          for n = 1, least_n(p) - 1 do if #adaptations(n, p) > 0 then return false end end
          return #adaptations(least_n(p), p) > 0
        end)
      end,
      agrees = "= 0",
      disagrees = "> 0",
    },
    {
      asks = "those on which it is not 1",
      counts = function()
        local texts = {}
        for p = 2, 28 do
          if least_n(p) ~= 1 then texts[#texts + 1] = string.format("%d on %d", least_n(p), p) end
        end
        return is_text(join(texts), "2 on 13, 2 on 21, 2 on 25, 2 on 26, 2 on 27")
      end,
      agrees = "= 1",
      disagrees = "= 0",
    },
  },
}

claim {
  id = "E-s4b",
  where = "§IV; trial of n",
  says = "is not necessarily compensated through the potentially faster following allreduces",
  asks = "numbers of ranks on which to try each n from 1 to 8 takes longer than the best one saves in 1,000 calls",
  run = run_needed("started allreduces with each n, on several numbers of ranks"),
  agrees = "> 0",
  disagrees = "= 0",
}

claim {
  id = "E-7a",
  where = "Figs 7–10; cluster 1, ≤ 28 processes",
  says = "none of the library routines are faster than the OpenMPI implementation",
  not_judged = "MPI over verbs against a library over GASPI, on a cluster",
}

local to_28 = numbers(3, 28)
local function spread(routine, bytes, network)
  local times = each(numbers(2, 28), "%d", function(p) return routine_time(routine, p, bytes, network) end)
  local sum, squares = 0, 0
  for _, one in ipairs(times) do sum, squares = sum + one[2], squares + one[2] ^ 2 end
  local mean = sum / #times
  return math.sqrt(squares / #times - mean ^ 2) / mean
end
local function are_steadier(network)
  local texts, score = {}, 0
  for i, one in ipairs(routines) do
    local small, large = spread(one.of, one_int, network), spread(one.of, doubles, network)
    if large < 0.99 * small then score = score + 1 elseif large > 1.01 * small then score = score - 1 end
    texts[i] = string.format("%s %.3f and %.3f", one.name, small, large)
  end
  return score, score .. "; " .. join(texts)
end

claim {
  id = "E-7b",
  where = "Figs 7–10",
  says = "are steadier when using the allreduce on 255 doubles than on one integer",
  parts = {
    {
      asks = "of the four routines those whose times on 2 to 28 ranks have a smaller standard deviation, as a part of "
        .. "their mean, at 2,040 B than at 4 B, less those that have a larger one, by 1 % each; five messages at once that "
        .. "share a card",
      model = function() return are_steadier(shared) end,
      run = run_needed("both sizes on several numbers of ranks"),
      agrees = "= 4",
      disagrees = "< 0",
    },
    {
      asks = "the same, one message at once",
      model = function() return are_steadier(one_by_one) end,
      agrees = "= 4",
      disagrees = "< 0",
    },
  },
  finds = {model = "undecided"},
  because = "by the model times over P vary with the number of rounds alone, which have one price at each size: only where "
    .. "five messages share a card, Bruck and Ho's rounds differ; what the source saw, late packets perhaps, is no part of "
    .. "the model",
}

local function least_ahead_of_tree(network)
  local texts, fewest = {}, math.huge
  for i, routine in ipairs(butterflies) do
    local count = count_if(to_28, function(p)
      return routine_time(routine, p, doubles, network) < routine_time(tree, p, doubles, network) * (1 - 1e-9)
    end)
    texts[i], fewest = count, math.min(fewest, count)
  end
  return fewest, join(texts) .. " of " .. #to_28
end

claim {
  id = "E-7c",
  where = "Figs 9, 10; 255 doubles",
  says = "the butterfly-like algorithms have faster runtimes than the BST",
  parts = on_both("on how many of 3 to 28 ranks pairwise exchange, adapted dissemination, and Bruck and Ho's algorithm "
    .. "each are faster than the binomial tree at 2,040 B", ">= 24", "<= 21", least_ahead_of_tree),
}

claim {
  id = "E-7d",
  where = "Figs 7–10; PE",
  says = "this is not confirmed by the results of the experiments",
  parts = {
    {
      asks = "how much longer the transfers of pairwise exchange take for others than those of adapted dissemination, on "
        .. "14 hosts of 2 ranks, each with one link, which carries both directions at once",
      model = function()
        local hosts = {}
        for host = 1, 14 do hosts[host] = 2 end
        local function contention(algorithm) return price(algorithm, 28, doubles, {nodes = hosts}).contention end
        return contention("pairwise_exchange") / contention(adapted_least(28))
      end,
      agrees = "<= 1.2",
      disagrees = ">= 1.5",
    },
    {
      asks = "what the simulated times of pairwise exchange are by those without contention, on a fat tree of 14 hosts of "
        .. "2 ranks",
      simulation = not_simulated,
      agrees = "<= 1.2",
      disagrees = ">= 1.5",
    },
  },
}

local function slowest_by_fastest(network)
  return each(numbers(8, 28), "%d ranks", function(p)
    local function of(routine) return routine_time(routine, p, doubles, network) end
    return most(butterflies, of) / least(butterflies, of)
  end)
end

claim {
  id = "E-7e",
  unknown = {"five messages at once", "one message at once"},
  where = "Fig. 10; maximum",
  says = "all butterfly-like algorithms have similar runtimes",
  parts = on_both("the slowest of pairwise exchange, adapted dissemination, and Bruck and Ho's algorithm by the fastest at "
    .. "2,040 B, 8 to 28 ranks", "<= 1.3", "> 1.6", slowest_by_fastest),
  finds = "undecided",
  because = "with five messages at once pairwise exchange is up to 1.48 times as slow, as it has ⌊log₂P⌋+2 rounds where P "
    .. "is no power of two; with one at once Bruck and Ho's algorithm is up to twice as slow, as each of its messages has "
    .. "a latency of its own. What all routines have in common, as a library's overhead, would bring them closer, and is "
    .. "not in the model",
}

local function behind_on(routine, bytes, last_ranks)
  return function(network)
    return shown_count(numbers(3, last_ranks), function(p) return not is_least(routine, p, bytes, network) end)
  end
end
local bruck_is_not_least = behind_on(bruck, one_int, 28)
local small_parts = on_both("numbers of ranks from 3 to 28 on which Bruck and Ho's algorithm, n = 5, is not the fastest of "
  .. "the four routines at 4 B", "= 0", "> 3", bruck_is_not_least)

claim {
  id = "E-7f",
  unknown = {"five messages at once", "one message at once"},
  where = "§IV; one int",
  says = "algorithm shows best results for small messages",
  parts = {
    small_parts[1],
    small_parts[2],
    {asks = "the same, of simulated messages", simulation = not_simulated, agrees = "= 0", disagrees = "> 3"},
  },
  finds = "undecided",
  because = "it holds where the five messages of a round have one latency together, as one-sided transfers may; it does "
    .. "not where each has its own: then 5 messages in each of ⌈log₆P⌉ rounds are more latencies than ⌈log₂P⌉ rounds of "
    .. "one message",
}

local function ahead_on(routine, bytes, last_ranks)
  return function(network)
    return shown_count(numbers(3, last_ranks), function(p) return is_least(routine, p, bytes, network) end)
  end
end
local large_parts = on_both("numbers of ranks from 3 to 28 on which pairwise exchange is the fastest of the four routines "
  .. "at 2,040 B; three of them are powers of two", ">= 14", "<= 3", ahead_on(exchange, doubles, 28))

claim {
  id = "E-7g",
  unknown = {"five messages at once", "one message at once"},
  where = "§IV; 255 doubles",
  says = "the PE algorithm shows the best results for large messages",
  parts = {
    large_parts[1],
    large_parts[2],
    {asks = "the same, of simulated messages", simulation = not_simulated, agrees = ">= 14", disagrees = "<= 3"},
  },
  finds = "undecided",
  because = "where P is a power of two it takes as many rounds as dissemination with n = 1, ⌈log₂P⌉ of one message, "
    .. "elsewhere one more: a network on which all messages cost the same does not prefer it there. With one message at "
    .. "once it is best also where dissemination needs n = 2; one cost for an exchange and for messages one way may be "
    .. "what the model lacks",
}

-- How often a curve over the number of ranks turns from rising by more than 1 % to falling so, or back.
local function turns(routine, bytes, network)
  local count, before, direction = 0, routine_time(routine, 2, bytes, network), 0
  for p = 3, 28 do
    local now = routine_time(routine, p, bytes, network)
    local here = now > 1.01 * before and 1 or now < 0.99 * before and -1 or direction
    if direction ~= 0 and here ~= direction then count = count + 1 end
    before, direction = now, here
  end
  return count
end
local function turns_beyond_others(network)
  local texts, own, others = {}, 0, 0
  for i, one in ipairs(routines) do
    local count = turns(one.of, one_int, network)
    texts[i] = one.name .. " " .. count
    if one.of == adapted_least then own = count else others = math.max(others, count) end
  end
  return own - others, join(texts)
end

claim {
  id = "E-7h",
  unknown = {"five messages at once", "one message at once"},
  where = "§IV; adapted",
  says = "is very volatile, especially for small messages",
  parts = {
    {
      asks = "how often the times of adapted dissemination at 4 B on 2 to 28 ranks turn from rising to falling or back, "
        .. "less the most of another routine; five messages at once that share a card",
      model = function() return turns_beyond_others(shared) end,
      run = run_needed("started allreduces on several numbers of ranks"),
      agrees = "> 0",
      disagrees = "<= 0",
    },
    {
      asks = "the same, one message at once",
      model = function() return turns_beyond_others(one_by_one) end,
      agrees = "> 0",
      disagrees = "<= 0",
    },
  },
  finds = {model = "disagrees"},
  because = "by rounds its times turn where the least n changes between 1 and 2, at 13, 21 and 25 ranks, as often as those "
    .. "of pairwise exchange, which turn around each power of two; the source's are measured, and much of its ups and "
    .. "downs may be of the run",
}

local function adapted_by_tree(network)
  return each(to_28, "%d ranks", function(p)
    return routine_time(adapted_least, p, doubles, network) / routine_time(tree, p, doubles, network)
  end)
end

claim {
  id = "E-7i",
  where = "§IV; adapted",
  says = "it shows consistently faster runtimes than the BST",
  parts = on_both("time of adapted dissemination by that of the binomial tree at 2,040 B, 3 to 28 ranks", "< 1", "> 1",
    adapted_by_tree),
}

claim {
  id = "E-7j",
  where = "§IV",
  says = "is significantly slower than the equivalent allreduce with summation",
  asks = "time of the maximum of 255 doubles by that of their sum",
  run = run_needed("maximum and sum of 255 doubles"),
  agrees = ">= 1.07",
  disagrees = "<= 1.03",
}

claim {
  id = "E-11a",
  where = "Figs 11, 12; cluster 2",
  says = "Only for larger numbers of involved processes the runtimes of the GASPI routines",
  not_judged = "Intel MPI over verbs against a library over GASPI, on a cluster",
}

local far_parts = on_both("numbers of ranks from 3 to 128 on which Bruck and Ho's algorithm, n = 5, is not the fastest of "
  .. "the four routines at 4 B", "= 0", "> 3", behind_on(bruck, one_int, 128))

claim {
  id = "E-11b",
  unknown = {"five messages at once", "one message at once"},
  where = "Figs 11, 12; one int",
  says = "algorithm outperforms the other butterfly-like algorithms and the BST for allreduces with small messages",
  parts = {
    far_parts[1],
    far_parts[2],
    {asks = "the same, of simulated messages", simulation = not_simulated, agrees = "= 0", disagrees = "> 3"},
  },
  finds = "undecided",
  because = "as for 28 ranks, E-7f: it holds where the five messages of a round have one latency together, not where each "
    .. "has its own",
}

claim {
  id = "E-13a",
  where = "Figs 13, 14",
  says = "implementation is still faster for a process count up to 48",
  not_judged = "Intel MPI 4.1 over verbs, on a cluster",
}

local function tree_is_slowest(network)
  local cases = numbers(3, 128)
  local count = count_if(cases, function(p)
    local own = routine_time(tree, p, doubles, network)
    return own > most(butterflies, function(one) return routine_time(one, p, doubles, network) end) * (1 - 1e-9)
  end)
  return count / #cases, string.format("%d of %d", count, #cases)
end

claim {
  id = "E-13b",
  where = "Figs 13, 14",
  says = "runtimes are at the upper limit of the library runtimes",
  parts = on_both("part of the numbers of ranks from 3 to 128 on which the binomial tree is the slowest of the four "
    .. "routines at 2,040 B", ">= 0.9", "< 0.9", tree_is_slowest),
}

local function exchange_parts()
  local on = on_both("part of the numbers of ranks from 3 to 128 on which pairwise exchange is the fastest of the four "
    .. "routines at 2,040 B; six of them are powers of two", "> 0.5", "<= 0.048", function(network)
    local count, text = ahead_on(exchange, doubles, 128)(network)
    return count / 126, text
  end)
  on[3] = {asks = "the same, of simulated messages", simulation = not_simulated, agrees = "> 0.5", disagrees = "<= 0.048"}
  return on
end

claim {
  id = "E-13c",
  unknown = {"five messages at once", "one message at once"},
  where = "Fig. 13; PE",
  says = "the PE shows surprisingly good results, especially for large messages and the sum operation",
  parts = exchange_parts(),
  finds = "undecided",
  because = "as for 28 ranks, E-7g: with messages that share a card it is best at powers of two alone. Where each has a "
    .. "latency of its own, it is best at most P: adapted dissemination needs n = 2 or 3 on 61 of the 126",
}

-- §V

local function ahead_by_a_fifth(network)
  local texts, fewest = {}, 1
  for _, bytes in ipairs {one_int, doubles} do
    for _, routine in ipairs(butterflies) do
      local count = count_if(to_28, function(p)
        return routine_time(tree, p, bytes, network) >= 1.2 * routine_time(routine, p, bytes, network)
      end)
      texts[#texts + 1], fewest = count, math.min(fewest, count / #to_28)
    end
  end
  return fewest, string.format("%s of %d", join(texts), #to_28)
end

claim {
  id = "E-5a",
  where = "§V",
  says = "often significantly faster than",
  parts = on_both("on which part of 3 to 28 ranks pairwise exchange, adapted dissemination, and Bruck and Ho's algorithm "
    .. "are 1.2 times as fast as the binomial tree, at 4 B and at 2,040 B", "> 0.5", "< 0.5", ahead_by_a_fifth),
}

claim {
  id = "E-5b",
  where = "§V",
  says = "the overhead induced through this additional layer of indirection can slow a routine down by a factor of 2",
  not_judged = "a library against its own transport: it needs InfiniBand and its verbs",
}

claim {
  id = "E-5c",
  where = "§V; interconnects",
  says = "does not need more than 10",
  asks = "time of Bruck and Ho's algorithm, n = 5, at 2,040 B by that at 4 B on 28 ranks, with 2 µs a message, 3.2 GB/s "
    .. "and five messages at once, if combining is free and if it takes as long as in [KZ]; the source has 27 to 32 by 10 "
    .. "to 16 µs",
  model = function()
    return each({0, 0.2}, "%.1f ns a byte combined", function(nanoseconds)
      local network = {alpha = 2e-6, beta = 1 / 3.2e9, gamma = nanoseconds * 1e-9, at_once = 5}
      return routine_time(bruck, 28, doubles, network) / routine_time(bruck, 28, one_int, network)
    end)
  end,
  agrees = "1.7..3.2",
  disagrees = "not 1.7..3.2",
  finds = "disagrees",
  because = "costs are not in the source; those of the network are taken of InfiniBand of its time, and with them what it "
    .. "takes to combine decides",
}

local function best_n(p, bytes, network)
  local all = numbers(1, 8, function(n) return is_adaptable(n, p) end)
  return least(all, function(n) return time(adapted(n), p, bytes, network) end)
end

claim {
  id = "E-f1",
  where = "§IV, future",
  says = "static but network dependent lookup tables need to be developed",
  parts = {
    {
      asks = "numbers of ranks from 3 to 28 on which adapted dissemination with the least n takes 1.1 times as long at 4 B "
        .. "as with the best one to 8, five messages at once",
      model = function()
        return shown_count(to_28, function(p)
          return routine_time(adapted_least, p, one_int, shared) > 1.1 * best_n(p, one_int, shared)
        end)
      end,
      agrees = "> 0",
      disagrees = "= 0",
    },
    {
      asks = "those on which the best n for five messages at once takes 1.1 times as long as the best one for one at once, "
        .. "on the network of the latter",
      model = function()
        return shown_count(to_28, function(p)
          local _, n = best_n(p, one_int, shared)
          return time(adapted(n), p, one_int, one_by_one) > 1.1 * best_n(p, one_int, one_by_one)
        end)
      end,
      agrees = "> 0",
      disagrees = "= 0",
    },
    {
      asks = "time with the n that the model finds best by that with the best one of 1 to 8",
      run = run_needed("started allreduces with each n, on several numbers of ranks"),
      agrees = "<= 1.1",
      disagrees = "> 1.1",
    },
  },
}

claim {
  id = "E-f2",
  where = "§V, future",
  says = "an implementation of the allreduce routine with",
  not_judged = "a promise of an implementation with verbs",
}

claim {
  id = "E-f3",
  where = "§V, future",
  says = "will be investigated further in the scope of a library with collective routines",
  not_judged = "a promise of a library for GASPI",
}

local settings = {
  {"five messages at once, sharing a card", shared},
  {"five at once, a card each", full_links},
  {"one message at once", one_by_one},
}
local function over_ranks(bytes)
  return function()
    local points = {}
    for _, setting in ipairs(settings) do
      for _, routine in ipairs(routines) do
        curve(points, routine.name, numbers(2, 28), function(p)
          return {
            setting = setting[1],
            ranks = p,
            bytes = bytes,
            algorithm = routine.of(p),
            value = routine_time(routine.of, p, bytes, setting[2]),
          }
        end)
      end
    end
    return points
  end
end
figure {
  name = "int",
  title = "one int over the number of ranks",
  unit = "microseconds",
  over = "ranks",
  draw = over_ranks(one_int),
}
figure {
  name = "doubles",
  title = "255 doubles over the number of ranks",
  unit = "microseconds",
  over = "ranks",
  draw = over_ranks(doubles),
}
