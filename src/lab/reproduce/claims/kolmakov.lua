-- SPDX-License-Identifier: Apache-2.0
source {
  name = "kolmakov",
  paper = "D. Kolmakov, X. Zhang: A Generalization of the Allreduce Operation",
}

local megabyte = 1000000

-- Several claims ask for the same counts.
local known_counts = {}
local function counted(algorithm, ranks, verb)
  local key = algorithm .. ";" .. ranks .. ";" .. (verb or "")
  known_counts[key] = known_counts[key] or counts(algorithm, ranks, verb)
  return known_counts[key]
end

local function is_no_power(ranks) return not is_power(ranks) end
local function least_latency(ranks) return generalized(ceil_log(ranks)) end
local function is_same(a, b) return math.abs(a - b) < 1e-9 end

-- Numbers of ranks, each with the steps that can be saved: {ranks, r}.
local function all_saved(all_ranks, most_of)
  local cases = {}
  for _, p in ipairs(all_ranks) do
    for r = 0, most_of and most_of(p) or ceil_log(p) do
      cases[#cases + 1] = setmetatable({ranks = p, r = r},
        {__tostring = function() return string.format("%d ranks, r = %d", p, r) end})
    end
  end
  return cases
end
local function not_all(p) return ceil_log(p) - 1 end

-- Blocks that each rank sends and receives in a step, and with how many others.
local function traffic(step, ranks)
  local of = {sent = {}, received = {}, readers = {}, peers = {}}
  for rank = 0, ranks - 1 do of.sent[rank], of.received[rank], of.readers[rank], of.peers[rank] = 0, 0, 0, 0 end
  for _, message in ipairs(step) do
    of.sent[message.from] = of.sent[message.from] + message.blocks
    of.received[message.to] = of.received[message.to] + message.blocks
    of.readers[message.from] = of.readers[message.from] + 1
    of.peers[message.to] = of.peers[message.to] + 1
  end
  return of
end
local function greatest(by_rank)
  local found = 0
  for _, value in pairs(by_rank) do found = math.max(found, value) end
  return found
end
local function all_are(by_rank, wanted)
  for _, value in pairs(by_rank) do if not is_same(value, wanted) then return false end end
  return true
end

-- The vectors on the critical path: of each step what its busiest rank sends or receives.
local function critical_vectors(algorithm, ranks)
  local blocks = 0
  for _, step in ipairs(messages(algorithm, ranks)) do
    local of = traffic(step, ranks)
    blocks = blocks + math.max(greatest(of.sent), greatest(of.received))
  end
  return blocks / ranks
end

-- What a rank receives and combines in each step, where it is the same for all ranks.
local function blocks_by_step(algorithm, ranks)
  local received, combined = {}, {}
  for i, step in ipairs(messages(algorithm, ranks)) do
    received[i], combined[i] = traffic(step, ranks).received[0], step.combined[0] or 0
  end
  return received, combined
end

-- How many vectors are complete when nothing is combined any more: all but those that are distributed then.
local function vectors_left(ranks, r)
  local left, received = ranks, blocks_by_step(generalized(r), ranks)
  for step = ceil_log(ranks) + 1, #received do left = left - received[step] end
  return left
end

-- Whether a plan has the same steps, of the same assignments, as another, whatever their order in a step.
local function same_plans(a, b, ranks, verb)
  local function assignments(step)
    local all = {}
    for _, of in ipairs(step) do
      local from = {}
      for i, one in ipairs(of.from) do from[i] = one.rank .. "." .. one.slot end
      all[string.format("%d.%d.%d = %s", of.rank, of.block, of.slot, join(from, " + "))] = 1
    end
    return all
  end
  local first, second = plan(a, ranks, verb), plan(b, ranks, verb)
  if #first.steps ~= #second.steps then return false end
  for step = 1, #first.steps do
    if not same_pairs(assignments(first.steps[step]), assignments(second.steps[step])) then return false end
  end
  return true
end

-- [KZ] (36) and (44), in blocks of the vector's P-th part.
local function formula_36(p, r)
  local log, more = ceil_log(p), (1 << r) - 1
  return {steps = 2 * log - r, sent = 2 * (p - 1) + more * (log - 1), combined = p - 1 + more * (2 * log - 2)}
end
local function formula_44(p)
  local log = ceil_log(p)
  return {steps = log, sent = p * log, combined = p * (2 * log - 2)}
end
-- [KZ] (37), where (36) is least, with its logarithm rounded up; rounded to a whole number of steps.
local function formula_37(p, bytes, with)
  local log = ceil_log(p)
  local doubled = with.alpha / (bytes * (with.beta + 2 * with.gamma)) * p / ((log - 1) * math.log(2))
  return math.floor(math.min(math.max(math.log(doubled, 2), 0), log) + 0.5)
end
local function seconds(of, p, bytes, with)
  return of.steps * with.alpha + (of.sent * with.beta + of.combined * with.gamma) * bytes / p
end
local function best_r_of_36(p, bytes, with)
  local _, r = least(numbers(0, ceil_log(p)), function(r) return seconds(formula_36(p, r), p, bytes, with) end)
  return r
end

local function doubling(p, bytes) return time("recursive_doubling", p, bytes) end
local function halving(p, bytes) return time("recursive_halving", p, bytes) end
local function ring(p, bytes) return time("ring", p, bytes) end

claim {
  id = "KZ-s0a",
  where = "Abstract, §11; any P",
  says = "dynamically changing amount of communication steps between",
  asks = "numbers of ranks from 2 to 64, and of saved steps r from 0 to ⌈log₂P⌉, that do not take 2⌈log₂P⌉ − r steps",
  counts = function()
    return exceptions(all_saved(numbers(2, 64)), "%s", function(of)
      return counted(generalized(of.r), of.ranks).steps == 2 * ceil_log(of.ranks) - of.r
    end)
  end,
  agrees = "= 0",
  disagrees = "> 0",
}

claim {
  id = "KZ-s0b",
  where = "Abstract; P = 2^k + 1 against 2^k",
  says = "non-power-of-two number of processes which breaks down the performance of many existing algorithms",
  parts = {
    {
      asks = "time of recursive halving for 1 MB on 65 ranks by that on 64",
      model = function() return halving(65, megabyte) / halving(64, megabyte) end,
      agrees = ">= 1.8",
      disagrees = "< 1.5",
    },
    {
      asks = "the same of the generalized algorithm that saves no step",
      model = function() return time(generalized(0), 65, megabyte) / time(generalized(0), 64, megabyte) end,
      agrees = "<= 1.05",
      disagrees = "> 1.1",
    },
  },
}

claim {
  id = "KZ-s1a",
  where = "§1; ring",
  says = "so it is suitable only for big-sized tasks",
  parts = {
    {
      asks = "sizes up to 4 KB on 127 ranks at which the ring is not the last of ring, recursive doubling and halving",
      model = function()
        return exceptions(sizes(16, 4096), "%d bytes", function(bytes)
          return ring(127, bytes) > math.max(doubling(127, bytes), halving(127, bytes))
        end)
      end,
      agrees = "= 0",
      disagrees = "> 0",
    },
    {
      asks = "bytes from which the ring stays the first of the three, on 127 ranks",
      model = function()
        return crossing(function(bytes) return ring(127, bytes) end,
          function(bytes) return math.min(doubling(127, bytes), halving(127, bytes)) end, sizes(16, 64 << 20))
      end,
      agrees = "180000..720000",
      disagrees = "< 180000 or > 64000000",
    },
  },
}

claim {
  id = "KZ-s1b",
  where = "§1; RH, P = 2^k",
  says = "bandwidth-optimal but can be done in a logarithmic number of steps",
  asks = "powers of two from 2 to 256 ranks on which recursive halving does not take 2 log₂P steps and 2(P−1) blocks",
  counts = function()
    return exceptions(sizes(2, 256), "%d ranks", function(p)
      local found = counted("recursive_halving", p)
      return found.steps == 2 * floor_log(p) and found.sent == 2 * (p - 1) and found.received == 2 * (p - 1)
    end)
  end,
  agrees = "= 0",
  disagrees = "> 0",
}

claim {
  id = "KZ-s1c",
  where = "§1; RD",
  says = "considerable overhead in terms of bandwidth so it can be used effectively only for small messages",
  parts = {
    {
      asks = "vectors on the critical path of recursive doubling by those of the ring, which are the fewest, on 127 ranks",
      counts = function() return critical_vectors("recursive_doubling", 127) / critical_vectors("ring", 127) end,
      agrees = ">= 2",
      disagrees = "<= 1",
    },
    {
      asks = "bytes up to which recursive doubling is the first of ring, recursive doubling and halving, on 127 ranks",
      model = function()
        return crossing(function(bytes) return math.min(ring(127, bytes), halving(127, bytes)) end,
          function(bytes) return doubling(127, bytes) end, sizes(16, 64 << 20))
      end,
      agrees = "2000..9000",
      disagrees = "= 0 or > 9000",
    },
  },
}

-- What recursive doubling, halving and the hybrid take more than on the next lower power of two.
local function extra(all, value_of)
  local cases = {}
  for _, algorithm in ipairs(all) do
    for _, p in ipairs(numbers(3, 64, is_no_power)) do
      local more = value_of(algorithm, p) - value_of(algorithm, power_below(p))
      cases[#cases + 1] = {algorithm .. " on " .. p .. " ranks", more}
    end
  end
  return cases
end
local function steps_of(algorithm, p) return counted(algorithm, p).steps end

claim {
  id = "KZ-s1d",
  where = "§1; RD, RH, hybrid",
  says = "work only for the power-of-two number of processes and require additional work in the general case",
  parts = {
    {
      asks = "steps more than on the next lower power of two, on all other numbers of ranks from 3 to 64",
      counts = function() return extra({"recursive_doubling", "recursive_halving", "hybrid(saved_steps=1)"}, steps_of) end,
      agrees = "= 2",
      disagrees = "<= 0",
    },
    {
      asks = "vectors more on the critical path",
      counts = function()
        return extra({"recursive_doubling", "recursive_halving", "hybrid(saved_steps=1)"}, critical_vectors)
      end,
      agrees = "= 2",
      disagrees = "<= 0",
    },
  },
}

-- Each rank reads from one other in a step at most, and is read by one.
local function has_one_port(algorithm, ranks)
  for _, step in ipairs(messages(algorithm, ranks)) do
    local of = traffic(step, ranks)
    if greatest(of.peers) > 1 or greatest(of.readers) > 1 then return false end
  end
  return true
end

claim {
  id = "KZ-s1e",
  where = "§1",
  says = "Our solution works optimally for any number of processes",
  asks = "numbers of ranks from 3 to 64 on which another schedule of 2(P−1) blocks and one message a step takes fewer "
    .. "steps than the generalized one that saves none",
  counts = function()
    return exceptions(numbers(3, 64), "%d ranks", function(p)
      for _, algorithm in ipairs(algorithms(p)) do
        local found = not refusal(algorithm, p) and counted(algorithm, p)
        local is_better = found and found.steps < 2 * ceil_log(p) and is_same(found.sent, 2 * (p - 1))
          and is_same(found.received, 2 * (p - 1)) and has_one_port(algorithm, p)
        if is_better then
          return false, string.format("%s takes %d steps and %g combines", algorithm, found.steps, found.combined)
        end
      end
      return true
    end)
  end,
  agrees = "= 0",
  disagrees = "> 0",
  finds = "disagrees",
  because = "for every even P the tower of factors P/2 and 2, which reduces each block on two ranks, takes one step less "
    .. "with 2(P−1) blocks, and P combines; the source's solution is optimal among those of P−1 combines",
}

claim {
  id = "KZ-s1f",
  where = "§1; prime P",
  says = "trading off latency for bandwidth, even for a prime number of processes",
  parts = {
    {
      asks = "saved steps r on 7, 13, 31 and 61 ranks that do not take one step less than r − 1, and more blocks",
      counts = function()
        return exceptions(all_saved({7, 13, 31, 61}), "%s", function(of)
          if of.r == 0 then return true end
          local less, more = counted(generalized(of.r), of.ranks), counted(generalized(of.r - 1), of.ranks)
          return less.steps == more.steps - 1 and less.sent > more.sent
        end)
      end,
      agrees = "= 0",
      disagrees = "> 0",
    },
    {
      asks = "how many different r are the fastest at sizes from 16 B to 32 MB, on each of them",
      model = function()
        return each({7, 13, 31, 61}, "%d ranks", function(p)
          local count, is_best = 0, {}
          for _, bytes in ipairs(sizes(16, 32 << 20)) do
            local _, best = best_time(all_generalized(p), p, bytes)
            if not is_best[best] then count, is_best[best] = count + 1, true end
          end
          return count
        end)
      end,
      agrees = ">= 3",
      disagrees = "<= 1",
    },
  },
}

claim {
  id = "KZ-s1g",
  where = "§1; profiles of others",
  says = "more than 17% of the time was spent in the",
  not_judged = "17 %, 28 % and 425 bytes are cited from another paper: they tell of the applications of one site",
}

-- The platform on which ranks were simulated: 10 Gbit/s, and 30 us for a message between two hosts.
local line = {alpha = 3e-5, beta = 8e-10, gamma = 2e-10}

claim {
  id = "KZ-s2",
  where = "§2, model",
  says = "so there are no network conflicts for any cyclic communication pattern",
  parts = {
    {
      asks = "transfers of r = 0, a cyclic shift of all ranks in each step, by what they take alone: 127 ranks on hosts of "
        .. "20",
      model = function()
        return price(generalized(0), 127, megabyte, {nodes = {20, 20, 20, 20, 20, 20, 7}}).contention
      end,
      agrees = "= 1",
      disagrees = "> 1",
    },
    {
      asks = "simulated time for 10 MB on 127 ranks, shuffled over the hosts, by that of the same messages alone on 10 "
        .. "Gbit/s",
      simulation = function()
        local alone = {["simgrid:lr"] = "ring", [generalized(0)] = generalized(0)}
        return each({"simgrid:lr", generalized(0)}, "%s", function(algorithm)
          return simulated("kolmakov", "shuffled", 127, algorithm, 10 * megabyte)
            / time(alone[algorithm], 127, 10 * megabyte, line)
        end)
      end,
      agrees = "<= 1.05",
      disagrees = ">= 1.5",
    },
  },
  finds = "disagrees",
  because = "an assumption of the model, one link for each rank: the 20 ranks of a host of the source's own cluster share "
    .. "one; its β, 12.5 times that of 10 Gbit/s, has most of that sharing in it",
}

claim {
  id = "KZ-s3a",
  where = "§3; pre and post step",
  says = "number of steps becomes suboptimal in case of Recursive Doubling",
  parts = {
    {
      asks = "steps of recursive doubling more than ⌈log₂P⌉, on 3 to 64 ranks that are no power of two",
      counts = function()
        return each(numbers(3, 64, is_no_power), "%d ranks", function(p)
          return steps_of("recursive_doubling", p) - ceil_log(p)
        end)
      end,
      agrees = ">= 1",
      disagrees = "<= 0",
    },
    {
      asks = "vectors on the critical path of recursive halving more than on the next lower power of two",
      counts = function() return extra({"recursive_halving"}, critical_vectors) end,
      agrees = "= 2",
      disagrees = "< 2",
    },
  },
}

claim {
  id = "KZ-s3b",
  where = "§3; 3-2 elimination",
  says = "it decreases the overhead to",
  asks = "the most vectors, on 3 to 64 ranks, that 3-2 elimination has on its critical path more than recursive halving "
    .. "has on the next lower power of two",
  counts = function()
    local overhead, p = most(numbers(3, 64, is_no_power), function(p)
      return critical_vectors("elimination_3_2", p) - critical_vectors("recursive_halving", power_below(p))
    end)
    return overhead, string.format("%g vectors on %d ranks", overhead, p)
  end,
  agrees = "= 1.5",
  disagrees = "< 1.25 or > 1.5",
}

claim {
  id = "KZ-s3c",
  where = "§3",
  says = "doesn't require nor preparation nor finalization steps and thus introduce no overhead",
  asks = "numbers of ranks from 3 to 64, and of saved steps, with a rank that sends or receives less than others in some "
    .. "step",
  counts = function()
    return exceptions(all_saved(numbers(3, 64)), "%s", function(of)
      for _, step in ipairs(messages(generalized(of.r), of.ranks)) do
        local by = traffic(step, of.ranks)
        if not all_are(by.sent, by.sent[0]) or not all_are(by.received, by.sent[0]) then return false end
      end
      return true
    end)
  end,
  agrees = "= 0",
  disagrees = "> 0",
}

claim {
  id = "KZ-s3d",
  where = "§3; census algorithm of its [2]",
  says = "introduces unnecessary computational overhead",
  parts = {
    {
      asks = "numbers of ranks from 2 to 64 on which r = L has other steps or blocks than the census, or more combines",
      counts = function()
        return exceptions(numbers(2, 64), "%d ranks", function(p)
          local ours, census = counted(least_latency(p), p), counted("bruck_ho(n=1)", p)
          return ours.steps == census.steps and ours.sent == census.sent and ours.combined <= census.combined
        end)
      end,
      agrees = "= 0",
      disagrees = "> 0",
    },
    {
      asks = "numbers of ranks on which it has fewer combines",
      counts = function()
        return #numbers(2, 64, function(p)
          return counted(least_latency(p), p).combined < counted("bruck_ho(n=1)", p).combined
        end)
      end,
      agrees = ">= 1",
      disagrees = "= 0",
    },
  },
}

claim {
  id = "KZ-s3e",
  where = "§3, §7; Bruck's allgather reversed",
  says = "has the same complexity as our bandwidth-optimal version but it requires additional data shift",
  asks = "numbers of ranks from 2 to 64 on which Bruck's allgather, reversed and forward, has other steps, blocks or "
    .. "combines than r = 0; a shift of one's own data is none of them",
  counts = function()
    return exceptions(numbers(2, 64), "%d ranks", function(p)
      local ours, bruck = counted(generalized(0), p), counted("bruck", p)
      return ours.steps == bruck.steps and ours.sent == bruck.sent and ours.combined == bruck.combined
    end)
  end,
  agrees = "= 0",
  disagrees = "> 0",
}

claim {
  id = "KZ-s3f",
  where = "§3; ring",
  says = "works with data in a more cache-friendly manner than butterfly algorithms",
  asks = "time of the ring by that of r = 0, for 16 MB on all ranks of this machine",
  run = function() return nil, "needs a run: allreduce of 16 MB on all cores, ring and r = 0 by turns" end,
  agrees = "<= 0.98",
  disagrees = ">= 1.02",
}

-- The ring that folds make has the ranks the other way round.
local function mirrored_pairs(step, ranks)
  local mirrored = {}
  for i, message in ipairs(step) do
    mirrored[i] = {from = -message.from % ranks, to = -message.to % ranks, blocks = message.blocks}
  end
  return pairs_of(mirrored)
end

claim {
  id = "KZ-s3g",
  where = "§3, §6",
  says = "directly connected to the butterfly algorithms and is also a special case of the proposed approach",
  parts = {
    {
      asks = "numbers of ranks from 2 to 64 on which the ring is another plan than the fold by shift 1, of one block a "
        .. "step",
      counts = function()
        return exceptions(numbers(2, 64), "%d ranks", function(p)
          local shifts = string.rep("1", p - 1, "+")
          return same_plans("capped(cap=1)", "ring", p) and same_plans("fold(shifts=" .. shifts .. ")", "ring", p)
        end)
      end,
      agrees = "= 0",
      disagrees = "> 0",
    },
    {
      asks = "those on which its reduce-scatter has other messages than the ring along a tree of one switch, mirrored",
      counts = function()
        return exceptions(numbers(2, 64), "%d ranks", function(p)
          local fold, tree = messages("ring", p), messages("tree_ring(nodes=" .. p .. ")", p)
          for step = 1, p - 1 do
            if not same_pairs(mirrored_pairs(fold[step], p), pairs_of(tree[step])) then return false end
          end
          return #fold == #tree
        end)
      end,
      agrees = "= 0",
      disagrees = "> 0",
    },
  },
}

claim {
  id = "KZ-s3h",
  where = "§3; Radix-k",
  says = "performs linear reduction across each dimension",
  asks = "products of rings that do not take 2Σ(pᵢ−1) steps and 2(P−1) blocks, of two and three dimensions",
  counts = function()
    local shapes = {{2, 2}, {3, 2}, {4, 3}, {3, 5}, {7, 7}, {8, 4}, {2, 3, 4}, {3, 3, 3}, {4, 4, 4}, {2, 2, 15}}
    local texts, of_text = {}, {}
    for i, dims in ipairs(shapes) do
      texts[i] = join(dims, "x")
      of_text[texts[i]] = dims
    end
    return exceptions(texts, "%s", function(text)
      local p, steps = 1, 0
      for _, size in ipairs(of_text[text]) do p, steps = p * size, steps + 2 * (size - 1) end
      local found = counted("blueconnect(dims=" .. text .. ")", p)
      return found.steps == steps and found.sent == 2 * (p - 1) and found.received == 2 * (p - 1)
    end)
  end,
  agrees = "= 0",
  disagrees = "> 0",
}

-- Numbers of ranks, each with a number of ports.
local function rank_and_ports(log_of)
  local wrong, of_all, first = 0, 0, nil
  for p = 2, 64 do
    for k = 1, 7 do
      local steps, said = #messages("generalized(radix=" .. k + 1 .. ")", p, "reduce_scatter"), log_of(p, k)
      of_all = of_all + 1
      if steps ~= said then
        wrong = wrong + 1
        if k > 1 and p > k then first = first or string.format("%d ranks, %d ports: %d, not %d", p, k, steps, said) end
      end
    end
  end
  return wrong, wrong == 0 and "none of " .. of_all or string.format("%d of %d, as %s", wrong, of_all, first)
end

claim {
  id = "KZ-s3i",
  where = "§3; k ports",
  says = "which leads to a lower number of steps equal to",
  parts = {
    {
      asks = "numbers of ranks P from 2 to 64, and of ports k to 7, whose reduce-scatter does not take the printed ⌈log_p "
        .. "k⌉ steps",
      counts = function() return rank_and_ports(function(p, k) return k == 1 and 0 or ceil_log(k, p) end) end,
      agrees = "= 0",
      disagrees = "> 0",
    },
    {
      asks = "the same of ⌈log_(k+1) P⌉",
      counts = function() return rank_and_ports(function(p, k) return ceil_log(p, k + 1) end) end,
      agrees = "= 0",
      disagrees = "> 0",
    },
  },
  finds = "disagrees",
  because = "a misprint: with k ports a rank hears of k + 1 times as many in a step, so that ⌈log_(k+1) P⌉ is right; it "
    .. "holds for all numbers tried, while ⌈log_p k⌉ is 1 at most for k ≤ P",
}

-- A group that is not cyclic, as plans name it: Z_p × Z_(n/p) where p² divides n, else Z_p acting on Z_q where p divides
-- q − 1.
local function second_group(n)
  local primes = numbers(2, n, function(p)
    for d = 2, p - 1 do if p % d == 0 then return false end end
    return n % p == 0
  end)
  for _, p in ipairs(primes) do
    if n % (p * p) == 0 then return p .. "x" .. n // p end
  end
  for _, p in ipairs(primes) do
    for _, q in ipairs(primes) do
      for unit = 2, (q - 1) % p == 0 and q - 1 or 0 do
        local power = 1
        for _ = 1, p do power = power * unit % q end
        local rest = n // (p * q)
        if power == 1 then return p .. "." .. q .. "." .. unit .. (rest > 1 and "x" .. rest or "") end
      end
    end
  end
end
local function has_generator(group, order)
  for a = 1, order - 1 do
    local sum, length = a, 1
    while sum ~= 0 do sum, length = group_sum(group, order, sum, a), length + 1 end
    if length == order then return true end
  end
  return false
end

claim {
  id = "KZ-s4",
  where = "§4",
  says = "for composite numbers, more groups can be found",
  asks = "composite numbers of ranks from 4 to 64 for which there is the cyclic group alone",
  counts = function()
    local all = numbers(4, 64, function(n)
      for d = 2, n - 1 do if n % d == 0 then return true end end
      return false
    end)
    local alone = {}
    local count = exceptions(all, "%d", function(n)
      local other = second_group(n)
      local is_found = other and not has_generator(other, n)
      if not is_found then alone[#alone + 1] = n end
      return is_found
    end)
    return count, string.format("%d of %d: %s", count, #all, join(alone))
  end,
  agrees = "= 0",
  disagrees = "> 0",
  finds = "disagrees",
  because = "n ranks have one group exactly if n has no common divisor with φ(n), which is so of 15, 33, 35 and 51; the "
    .. "other composite numbers have a second group, the square-free ones only such as do not commute",
}

-- Permutations, [0] to what 0 goes, of cycles: "(0 1)(2 3)".
local function permutation(cycles, order)
  local to = {}
  for x = 0, order - 1 do to[x] = x end
  for cycle in cycles:gmatch("%(([^)]*)%)") do
    local all = {}
    for x in cycle:gmatch("%d+") do all[#all + 1] = math.tointeger(tonumber(x)) end
    for i, x in ipairs(all) do to[x] = all[i % #all + 1] end
  end
  return to
end
-- The right one first.
local function product(left, right)
  local to = {}
  for x, y in pairs(right) do to[x] = left[y] end
  return to
end
local function cycles_of(to)
  local text, is_seen = "", {}
  for x = 0, #to do
    local cycle, y = {}, x
    while not is_seen[y] do
      is_seen[y], cycle[#cycle + 1] = true, y
      y = to[y]
    end
    if #cycle > 0 then text = text .. "(" .. join(cycle, " ") .. ")" end
  end
  return text
end
local function translation(group, order, by)
  local to = {}
  for x = 0, order - 1 do to[x] = group_sum(group, order, x, by) end
  return to
end

local printed_generators = {
  cyclic = {"(0 1 2 3 4 5 6 7)"},
  binary = {"(0 1)(2 3)(4 5)(6 7)", "(0 2)(1 3)(4 6)(5 7)", "(0 4)(1 5)(2 6)(3 7)"},
}
-- The product of generators that Table 1 has as its element d.
local function printed_element(group, d)
  local to = permutation("", 8)
  if group == "cyclic" then
    for _ = 1, d do to = product(permutation(printed_generators.cyclic[1], 8), to) end
  else
    for i, cycles in ipairs(printed_generators.binary) do
      if d >> (i - 1) & 1 == 1 then to = product(permutation(cycles, 8), to) end
    end
  end
  return to
end

claim {
  id = "KZ-t1",
  where = "Table 1, eq. (1)",
  says = "Examples of permutation groups",
  parts = {
    {
      asks = "which of the 16 elements, as products of the printed generators, are other cycles than those of our groups "
        .. "of 8",
      counts = function()
        local all = {}
        for _, group in ipairs {"cyclic", "binary"} do
          for d = 0, 7 do all[#all + 1] = group .. " " .. d end
        end
        return exceptions(all, "%s", function(text)
          local group, d = text:match("(%a+) (%d)")
          local expected, found = printed_element(group, tonumber(d)), translation(group, 8, tonumber(d))
          return cycles_of(expected) == cycles_of(found), cycles_of(found)
        end)
      end,
      agrees = "= 0",
      disagrees = "> 0",
    },
    {
      asks = "the number that Table 1 gives to the generator (0 4)(1 5)(2 6)(3 7), the h₃ of (1)",
      counts = function()
        local _, d = least(numbers(0, 7), function(d)
          return cycles_of(translation("binary", 8, d)) == printed_generators.binary[3] and 0 or 1
        end)
        return d
      end,
      agrees = "= 3",
      disagrees = "not = 3",
    },
  },
  finds = "disagrees",
  because = "all 16 elements are as printed; (1) numbers generators where Table 1 numbers elements, so that one has two "
    .. "names",
}

claim {
  id = "KZ-s5a",
  where = "§5",
  says = "describes a cyclic communication pattern where process 0 sends data to the process 1",
  parts = {
    {
      asks = "whether (0 1)(1 2) is (0 1 2) and (1 2)(0 1) is (0 2 1), the right factor first",
      counts = function()
        local a, b = permutation("(0 1)", 3), permutation("(1 2)", 3)
        return is_text(cycles_of(product(a, b)) .. ", " .. cycles_of(product(b, a)), "(0 1 2), (0 2 1)")
      end,
      agrees = "= 1",
      disagrees = "= 0",
    },
    {
      asks = "whether the messages of (0 1 2), each x to its image, are a step of the ring along one switch",
      counts = function()
        local all = {}
        for x, y in pairs(permutation("(0 1 2)", 3)) do all[#all + 1] = {from = x, to = y, blocks = 1} end
        return same_pairs(pairs_of(all), pairs_of(messages("tree_ring(nodes=3)", 3)[1]))
      end,
      agrees = "= 1",
      disagrees = "= 0",
    },
  },
}

-- Figure 2's placement of the parts of the vector.
local printed_h = {4, 5, 2, 6, 1, 0, 3}

claim {
  id = "KZ-3",
  where = "Figs 2, 3; P = 7",
  says = "Since the placement of data elements is defined by a permutation then each process owns exactly one data element",
  parts = {
    {
      asks = "whether t₂ after h = 4 5 2 6 1 0 3 places the elements of Q₂ at 6 0 4 1 3 2 5",
      counts = function()
        local places = {}
        for i, x in ipairs(printed_h) do places[i] = group_sum("cyclic", 7, x, 2) end
        return is_text(join(places, " "), "6 0 4 1 3 2 5")
      end,
      agrees = "= 1",
      disagrees = "= 0",
    },
    {
      asks = "those of the seven vectors that have two elements, or none, on some rank",
      counts = function()
        return exceptions(numbers(0, 6), "vector %d", function(k)
          local count, is_placed = 0, {}
          for _, x in ipairs(printed_h) do
            local place = group_sum("cyclic", 7, x, k)
            count = count + (is_placed[place] and 0 or 1)
            is_placed[place] = true
          end
          return count == 7
        end)
      end,
      agrees = "= 0",
      disagrees = "> 0",
    },
  },
}

claim {
  id = "KZ-s5b",
  where = "§5.3",
  says = "each process sends one local data element and receives the remote one",
  parts = {
    {
      asks = "numbers of ranks from 2 to 64 with a rank that does not send and receive one block where one vector is moved",
      counts = function()
        return exceptions(numbers(2, 64), "%d ranks", function(p)
          for _, step in ipairs(messages("naive", p)) do
            local of = traffic(step, p)
            if not all_are(of.sent, 1) or not all_are(of.received, 1) then return false end
          end
          return true
        end)
      end,
      agrees = "= 0",
      disagrees = "> 0",
    },
    {
      asks = "blocks that each rank sends where two vectors are moved by one shift, on 4 to 64 ranks",
      counts = function()
        return each(numbers(4, 64), "%d ranks", function(p)
          local step = messages("capped(cap=2)", p)[1]
          local of = traffic(step, p)
          return all_are(of.sent, of.sent[0]) and all_are(of.received, of.sent[0]) and of.sent[0] or 0
        end)
      end,
      agrees = "= 2",
      disagrees = "not = 2",
    },
  },
}

claim {
  id = "KZ-e15",
  where = "(10)–(15)",
  says = "total number of steps in the straightforward implementation",
  asks = "numbers of ranks from 2 to 64 on which it does not take 2(P−1) steps, 2(P−1) blocks and P−1 combines",
  counts = function()
    return exceptions(numbers(2, 64), "%d ranks", function(p)
      local found = counted("naive", p)
      return found.steps == 2 * (p - 1) and found.sent == 2 * (p - 1) and found.received == 2 * (p - 1)
        and found.combined == p - 1
    end)
  end,
  agrees = "= 0",
  disagrees = "> 0",
}

claim {
  id = "KZ-4",
  where = "Fig. 4, (16); P = 7",
  says = "with the same communication cycle",
  parts = {
    {
      asks = "whether the ring on 7 ranks takes 12 steps",
      counts = function() return #messages("ring", 7) end,
      agrees = "= 12",
      disagrees = "not = 12",
    },
    {
      asks = "from how many others a rank reads in the six steps that reduce, in the six that distribute, and in all "
        .. "twelve",
      counts = function()
        local function others(first, last)
          local count, is_read = 0, {}
          for step = first, last do
            for _, message in ipairs(messages("ring", 7)[step]) do
              local by = (message.from - message.to) % 7
              count, is_read[by] = count + (is_read[by] and 0 or 1), true
            end
          end
          return count
        end
        return {{"reduction", others(1, 6)}, {"distribution", others(7, 12)}, {"both", others(1, 12)}}
      end,
      agrees = "= 1",
      disagrees = "> 1",
    },
  },
  finds = "disagrees",
  because = "each phase has one cycle, but our distribution runs the reduction backwards, so that its cycle is the "
    .. "opposite one, as in the source's other algorithms; steps, blocks and combines are the same",
}

-- On 7 ranks: how many vectors there are before each step that reduces, the shifts of these steps, and all blocks.
local function folding_on_7(r)
  local left, shifts, blocks, at = {7}, {}, {}, messages(generalized(r), 7)
  for i, step in ipairs(at) do
    blocks[i] = traffic(step, 7).received[0]
    if i <= 3 then
      left[i + 1] = left[i] - blocks[i]
      shifts[i] = (step[1].from - step[1].to) % 7
    end
  end
  return string.format("%s; %s; %s", join(left), join(shifts), join(blocks))
end

claim {
  id = "KZ-5",
  where = "Fig. 5, (17)–(24); P = 7",
  says = "folded approximately in a factor of 2 on each step",
  asks = "whether r = 0 leaves 7, 4, 2, 1 vectors by shifts 3, 2, 1 on 7 ranks, and moves 3, 2, 1, 1, 2, 3 blocks",
  counts = function() return is_text(folding_on_7(0), "7, 4, 2, 1; 3, 2, 1; 3, 2, 1, 1, 2, 3") end,
  agrees = "= 1",
  disagrees = "= 0",
}

claim {
  id = "KZ-e25",
  where = "(25); any P",
  says = "number of transmitted data and the number of calculations stay the same as for Ring algorithm",
  asks = "numbers of ranks from 2 to 64 on which r = 0 does not take 2⌈log₂P⌉ steps, 2(P−1) blocks and P−1 combines, or "
    .. "the ring other blocks and combines",
  counts = function()
    return exceptions(numbers(2, 64), "%d ranks", function(p)
      local found, by_ring = counted(generalized(0), p), counted("ring", p)
      return found.steps == 2 * ceil_log(p) and found.sent == 2 * (p - 1) and found.received == 2 * (p - 1)
        and found.combined == p - 1 and by_ring.sent == found.sent and by_ring.combined == found.combined
    end)
  end,
  agrees = "= 0",
  disagrees = "> 0",
}

claim {
  id = "KZ-s7a",
  where = "§7",
  says = "doesn't need data shift after the end of communications since all data vectors appear in the right positions",
  asks = "numbers of ranks from 2 to 64 whose reduce-scatter, proved, takes more than ⌈log₂P⌉ steps or P−1 blocks until "
    .. "block x is on rank x alone, or ends with a step of copies",
  counts = function()
    return exceptions(numbers(2, 64), "%d ranks", function(p)
      local found, of = counted(generalized(0), p, "reduce_scatter"), plan(generalized(0), p, "reduce_scatter")
      for rank = 1, p do
        for block = 1, p do
          if (of.result[rank][block] ~= nil) ~= (rank == block) then return false end
        end
      end
      for _, a in ipairs(of.steps[#of.steps]) do if #a.from < 2 then return false end end
      return found.steps == ceil_log(p) and found.sent == p - 1
    end)
  end,
  agrees = "= 0",
  disagrees = "> 0",
}

-- The chain of Table 1.b: all generators of Z₂^k, neighbours first.
local function binary_fold(ranks, saved)
  local shifts = join(sizes(1, ranks // 2), "+")
  return string.format("fold(group=binary,shifts=%s,saved_steps=%d)", shifts, saved)
end
-- Whether each rank exchanges with those that differ in one bit, from the lowest to the highest and back, blocks as given.
local function exchanges_bits(algorithm, ranks, bits, blocks_of)
  local at = messages(algorithm, ranks)
  for i, bit in ipairs(bits) do
    if #at[i] ~= ranks then return false end
    for _, message in ipairs(at[i]) do
      if message.from ~ message.to ~= bit or not is_same(message.blocks, blocks_of(bit)) then return false end
    end
  end
  return #at == #bits
end

claim {
  id = "KZ-s7b",
  where = "§7; P = 2^k, Table 1.b",
  says = "then the proposed bandwidth-optimal algorithm becomes equal to the Recursive Halving algorithm",
  asks = "powers of two from 2 to 64 ranks on which the fold over Z₂^k and recursive halving are different plans, or do "
    .. "not exchange halves, quarters, … with the rank that differs in one bit",
  counts = function()
    return exceptions(sizes(2, 64), "%d ranks", function(p)
      local bits = sizes(1, p // 2)
      for i = #bits, 1, -1 do bits[#bits + 1] = bits[i] end
      return same_plans(binary_fold(p, 0), "recursive_halving", p)
        and exchanges_bits("recursive_halving", p, bits, function(bit) return p // 2 // bit end)
    end)
  end,
  agrees = "= 0",
  disagrees = "> 0",
}

-- Abelian groups as lists of factors, each a multiple of the one before.
local function abelian_groups(order, first)
  local found = {}
  if order == 1 then return {{}} end
  for factor = first or 2, order do
    if order % factor == 0 and factor % (first or 1) == 0 then
      for _, rest in ipairs(abelian_groups(order // factor, factor)) do
        table.insert(rest, 1, factor)
        found[#found + 1] = rest
      end
    end
  end
  return found
end
-- a ↦ a + s of all elements, for each s; elements are numbers of digits, the first fastest.
local function sums_of(factors, order)
  local sums = {}
  for s = 0, order - 1 do
    sums[s] = {}
    for a = 0, order - 1 do
      local sum, stride, x, y = 0, 1, a, s
      for _, n in ipairs(factors) do
        sum, stride, x, y = sum + (x % n + y % n) % n * stride, stride * n, x // n, y // n
      end
      sums[s][a] = sum
    end
  end
  return sums
end
-- Shifts, so many at most, whose sums are all elements: by trying all, in any order, one of s and −s. Else nothing.
local function covering_shifts(factors, order, steps)
  if #factors == 1 then return skips(order) end
  local sums, tried, found = sums_of(factors, order), {}, {}
  for s = 1, order - 1 do
    local opposite = 1
    while sums[s][opposite] ~= 0 do opposite = opposite + 1 end
    if s <= opposite then tried[#tried + 1] = s end
  end
  local function try(reached, mask, left, from)
    if #reached == order then return true end
    for i = from, left > 0 and #tried or 0 do
      local plus, now, now_mask = sums[tried[i]], table.move(reached, 1, #reached, 1, {}), mask
      for _, a in ipairs(reached) do
        local b = plus[a]
        if now_mask >> b & 1 == 0 then now[#now + 1], now_mask = b, now_mask | 1 << b end
      end
      if #now << (left - 1) >= order then
        found[#found + 1] = tried[i]
        if try(now, now_mask, left - 1, i) then return true end
        found[#found] = nil
      end
    end
    return false
  end
  return try({0}, 1, steps, 1) and found or nil
end

claim {
  id = "KZ-s7c",
  where = "§7",
  says = "allows to use any suitable group",
  asks = "abelian groups of 2 to 64 ranks over which no fold takes ⌈log₂P⌉ steps, of all chains; those that are found are "
    .. "proved",
  counts = function()
    local all, factors_of = {}, {}
    for order = 2, 64 do
      for _, factors in ipairs(abelian_groups(order)) do
        all[#all + 1] = join(factors, "x")
        factors_of[all[#all]] = factors
      end
    end
    local without = {}
    local count = exceptions(all, "%s", function(text)
      local order = 1
      for _, n in ipairs(factors_of[text]) do order = order * n end
      local shifts = covering_shifts(factors_of[text], order, ceil_log(order))
      if not shifts then
        without[#without + 1] = text
        return false
      end
      local fold = string.format("fold(group=%s,shifts=%s)", text, join(shifts, "+"))
      return counts(fold, order, "reduce_scatter").steps <= ceil_log(order)
    end)
    return count, string.format("%d of %d: %s", count, #all, join(without))
  end,
  agrees = "= 0",
  disagrees = "> 0",
  finds = "disagrees",
  because = "over every group there is a fold, but over five of these 116, of 25, 27, 27, 54 and 63 ranks, no ⌈log₂P⌉ "
    .. "shifts have sums that are all elements: another step is needed",
}

claim {
  id = "KZ-s8a",
  where = "§8; hybrids",
  says = "they don't work with a non-power-of-two number of processes",
  parts = {
    {
      asks = "steps of the hybrid, saving none or one, more than on the next lower power of two, on 3 to 64 ranks that are "
        .. "none",
      counts = function()
        return extra({"hybrid(saved_steps=0)", "hybrid(saved_steps=1)"}, steps_of)
      end,
      agrees = "= 2",
      disagrees = "<= 0",
    },
    {
      asks = "vectors more on its critical path",
      counts = function()
        return extra({"hybrid(saved_steps=0)", "hybrid(saved_steps=1)"}, critical_vectors)
      end,
      agrees = "= 2",
      disagrees = "<= 0",
    },
    {
      asks = "numbers of ranks and saved steps for which the generalized algorithm takes more than 2⌈log₂P⌉ − r steps, or "
        .. "leaves a rank without a message in some step",
      counts = function()
        return exceptions(all_saved(numbers(3, 64, is_no_power)), "%s", function(of)
          local at = messages(generalized(of.r), of.ranks)
          for _, step in ipairs(at) do if idle_ranks(step, of.ranks) > 0 then return false end end
          return #at == 2 * ceil_log(of.ranks) - of.r
        end)
      end,
      agrees = "= 0",
      disagrees = "> 0",
    },
  },
}

-- The vectors that are sums of all ranks' on every rank after so many steps.
local function finished_vectors(algorithm, ranks, steps)
  local of = plan(algorithm, ranks)
  local value = contributions {ranks = ranks, blocks = of.blocks, steps = table.move(of.steps, 1, steps, 1, {})}
  return numbers(0, ranks - 1, function(vector)
    for rank = 0, ranks - 1 do
      local is_finished = false
      for slot = 0, 8 do
        local count = 0
        for _ in pairs(value(rank, (rank - vector) % ranks, slot) or {}) do count = count + 1 end
        is_finished = is_finished or count == ranks
      end
      if not is_finished then return false end
    end
    return true
  end)
end

claim {
  id = "KZ-6",
  where = "Fig. 6; P = 7, r = 1",
  says = "with reduced by 1 number of steps in the distribution phase",
  asks = "whether r = 1 leaves vectors 0 and 1 after three steps on 7 ranks, and moves 4, 3, 2, 2, 3 blocks with 10 "
    .. "combines",
  counts = function()
    local blocks = blocks_by_step(generalized(1), 7)
    return is_text(string.format("%s; %s; %d", join(finished_vectors(generalized(1), 7, 3)), join(blocks),
      counted(generalized(1), 7).combined), "0, 1; 4, 3, 2, 2, 3; 10")
  end,
  agrees = "= 1",
  disagrees = "= 0",
}

-- Calls visit(ranks, step, N, blocks, combines) for each step that reduces, N vectors before it: what r = 1 has more than
-- r = 0.
local function each_step_with_one_saved(all_ranks, visit)
  for _, p in ipairs(all_ranks) do
    local blocks, combines = blocks_by_step(generalized(0), p)
    local more_blocks, more_combines = blocks_by_step(generalized(1), p)
    local left = p
    for step = 1, ceil_log(p) do
      visit(p, step, left, more_blocks[step] - blocks[step], more_combines[step] - combines[step])
      left = (left + 1) // 2
    end
  end
end

claim {
  id = "KZ-e32",
  where = "(26)–(35); r = 0 → 1",
  says = "increases the number of exchanged data by",
  parts = {
    {
      asks = "blocks more in each step that reduces, on 3 to 64 ranks",
      counts = function()
        local all = {}
        each_step_with_one_saved(numbers(3, 64), function(p, step, _, blocks)
          all[#all + 1] = {p .. " ranks, step " .. step, blocks}
        end)
        return all
      end,
      agrees = "= 1",
      disagrees = "not = 1",
    },
    {
      asks = "steps with more than 2 further combines where the number of vectors is even, or 1 where it is odd",
      counts = function()
        local above, all = 0, 0
        each_step_with_one_saved(numbers(3, 64), function(_, _, left, _, combines)
          all, above = all + 1, above + (combines > (left % 2 == 0 and 2 or 1) and 1 or 0)
        end)
        return above, above .. " of " .. all
      end,
      agrees = "= 0",
      disagrees = "> 0",
    },
    {
      asks = "steps before the last on 7, 15 and 31 ranks that have not just so many",
      counts = function()
        local others, all = 0, 0
        each_step_with_one_saved({7, 15, 31}, function(p, step, left, _, combines)
          if step == ceil_log(p) then return end
          all, others = all + 1, others + (combines ~= (left % 2 == 0 and 2 or 1) and 1 or 0)
        end)
        return others, others .. " of " .. all
      end,
      agrees = "= 0",
      disagrees = "> 0",
    },
  },
}

claim {
  id = "KZ-s8b",
  where = "§8",
  says = "it is required to double the number of resulting data vectors",
  asks = "numbers of ranks from 2 to 64, and of saved steps r, that do not leave 2^r vectors",
  counts = function()
    return exceptions(all_saved(numbers(2, 64)), "%s", function(of)
      local left = vectors_left(of.ranks, of.r)
      return left == 1 << of.r, left .. " vectors"
    end)
  end,
  agrees = "= 0",
  disagrees = "> 0",
  finds = "disagrees",
  because = "halves are rounded up on the way down, so that r steps from the end there are 2^r vectors or fewer: 22, 11, "
    .. "6, 3, 2, 1 on 22 ranks; the doubling is an upper bound, and so is what (36) makes of it",
}

claim {
  id = "KZ-e36",
  where = "(36); 0 ≤ r < L",
  says = "complexity for the algorithm with an intermediate number of steps",
  parts = {
    {
      asks = "numbers of ranks from 2 to 64, and of saved steps, with other steps, or with more blocks or combines than "
        .. "(36)",
      counts = function()
        return exceptions(all_saved(numbers(2, 64), not_all), "%s", function(of)
          local found, said = counted(generalized(of.r), of.ranks), formula_36(of.ranks, of.r)
          return found.steps == said.steps and found.sent <= said.sent and found.combined <= said.combined
        end)
      end,
      agrees = "= 0",
      disagrees = "> 0",
    },
    {
      asks = "of those with r = 0 or P = 2^k − 1, how many have other blocks or combines",
      counts = function()
        local all = all_saved(numbers(2, 64, function(p) return not is_power(p + 1) end), function() return 0 end)
        for _, of in ipairs(all_saved({3, 7, 15, 31, 63}, not_all)) do all[#all + 1] = of end
        return exceptions(all, "%s", function(of)
          local found, said = counted(generalized(of.r), of.ranks), formula_36(of.ranks, of.r)
          return found.sent == said.sent and found.combined == said.combined
        end)
      end,
      agrees = "= 0",
      disagrees = "> 0",
    },
    {
      asks = "how many have fewer blocks or combines",
      counts = function()
        local all = all_saved(numbers(2, 64), not_all)
        local fewer = exceptions(all, "%s", function(of)
          local found, said = counted(generalized(of.r), of.ranks), formula_36(of.ranks, of.r)
          return found.sent == said.sent and found.combined == said.combined
        end)
        return fewer, fewer .. " of " .. #all
      end,
      agrees = ">= 1",
      disagrees = "= 0",
    },
  },
}

-- Numbers of ranks around powers of two and between them, with sizes from 16 B to 32 MB; visit(ranks, bytes, costs).
local function each_estimate(visit)
  local with = costs()
  for _, p in ipairs {3, 5, 7, 9, 12, 17, 22, 33, 48, 65, 100, 127, 129, 160} do
    for _, bytes in ipairs(sizes(16, 32 << 20)) do visit(p, bytes, with) end
  end
end

claim {
  id = "KZ-e37a",
  where = "(37); Table 2",
  says = "possible to analytically determine the optimal number of steps",
  parts = {
    {
      asks = "percent of 14 numbers of ranks and 22 sizes at which (37), with its logarithm rounded up, is where (36) is "
        .. "least",
      model = function()
        local all, right = 0, 0
        each_estimate(function(p, bytes, with)
          all, right = all + 1, right + (formula_37(p, bytes, with) == best_r_of_36(p, bytes, with) and 1 or 0)
        end)
        return 100 * right / all, right .. " of " .. all
      end,
      agrees = ">= 95",
      disagrees = "< 75",
    },
    {
      asks = "percent at which it is the best by exact counts",
      model = function()
        local all, right = 0, 0
        each_estimate(function(p, bytes, with)
          local _, best = best_time(all_generalized(p), p, bytes)
          all, right = all + 1, right + (generalized(formula_37(p, bytes, with)) == best and 1 or 0)
        end)
        return 100 * right / all, right .. " of " .. all
      end,
      agrees = ">= 85",
      disagrees = "< 75",
    },
    {
      asks = "its time by that of the best, where it is worst",
      model = function()
        local worst, at = 0, ""
        each_estimate(function(p, bytes, with)
          local ratio = time(generalized(formula_37(p, bytes, with)), p, bytes) / best_time(all_generalized(p), p, bytes)
          if ratio > worst then worst, at = ratio, string.format("%.2f on %d ranks, %d bytes", ratio, p, bytes) end
        end)
        return worst, at
      end,
      agrees = "<= 1.2",
      disagrees = "> 1.3",
    },
  },
}

claim {
  id = "KZ-e37b",
  where = "(37)",
  says = "the first one depends on network parameters and the initial data size",
  parts = {
    {
      asks = "by how many steps r of (36), where it is least, changes with each doubling of the size, from 127 to 1 MB on "
        .. "127 ranks",
      model = function()
        local with, all, before = costs(), {}, nil
        for _, bytes in ipairs(sizes(127, megabyte)) do
          local r = best_r_of_36(127, bytes, with)
          if before and before < 7 and r > 0 then all[#all + 1] = {bytes .. " bytes", r - before} end
          before = r
        end
        return all
      end,
      agrees = "= -1",
      disagrees = "not = -1",
    },
    {
      asks = "sizes at which r is another one with α, β and γ that have the same α/(β + 2γ)",
      model = function()
        local usual = costs()
        local per_byte = usual.beta + 2 * usual.gamma
        return exceptions(sizes(127, megabyte), "%d bytes", function(bytes)
          local r = best_r_of_36(127, bytes, usual)
          for _, with in ipairs {{alpha = usual.alpha, beta = per_byte, gamma = 0},
                                 {alpha = usual.alpha, beta = 0, gamma = per_byte / 2},
                                 {alpha = usual.alpha / 9, beta = per_byte / 18, gamma = per_byte / 36}} do
            if best_r_of_36(127, bytes, with) ~= r then return false end
          end
          return true
        end)
      end,
      agrees = "= 0",
      disagrees = "> 0",
    },
    {
      asks = "the same by exact counts",
      model = function()
        local usual, all = costs(), all_generalized(127)
        local per_byte = usual.beta + 2 * usual.gamma
        return exceptions(sizes(127, megabyte), "%d bytes", function(bytes)
          local _, best = best_time(all, 127, bytes)
          local _, sent_alone = best_time(all, 127, bytes, {alpha = usual.alpha, beta = per_byte, gamma = 0})
          local shared = {alpha = usual.alpha / 9, beta = per_byte / 18, gamma = per_byte / 36}
          local _, both = best_time(all, 127, bytes, shared)
          return best == sent_alone and best == both
        end)
      end,
      agrees = "= 0",
      disagrees = "> 0",
    },
  },
}

claim {
  id = "KZ-s8c",
  where = "§8; P = 2^k, r = L",
  says = "latency-optimal algorithm becomes equal to the Recursive Doubling algorithm",
  asks = "powers of two from 2 to 64 ranks on which the fold over Z₂^k that saves all steps and recursive doubling are "
    .. "different plans, or do not exchange whole vectors with the rank that differs in one bit, or combine other than "
    .. "log₂P of them",
  counts = function()
    return exceptions(sizes(2, 64), "%d ranks", function(p)
      local log = floor_log(p)
      return same_plans(binary_fold(p, log), "recursive_doubling", p)
        and exchanges_bits("recursive_doubling", p, sizes(1, p // 2), function() return p end)
        and counted("recursive_doubling", p).combined == log * p and counted(binary_fold(p, log), p).sent == log * p
    end)
  end,
  agrees = "= 0",
  disagrees = "> 0",
}

claim {
  id = "KZ-s9a",
  where = "§9; r = L",
  says = "The distribution phase, in this case, is completely omitted",
  asks = "numbers of ranks from 2 to 64 that take other than ⌈log₂P⌉ steps, or have a rank that combines nothing in one",
  counts = function()
    return exceptions(numbers(2, 64), "%d ranks", function(p)
      local at = messages(least_latency(p), p)
      for _, step in ipairs(at) do
        for rank = 0, p - 1 do if (step.combined[rank] or 0) == 0 then return false end end
      end
      return #at == ceil_log(p)
    end)
  end,
  agrees = "= 0",
  disagrees = "> 0",
}

claim {
  id = "KZ-e44",
  where = "(38)–(44)",
  says = "complexity for the latency-optimal version in the worst case",
  parts = {
    {
      asks = "numbers of ranks from 2 to 64 that take other steps or blocks than (44), or more combines",
      counts = function()
        return exceptions(numbers(2, 64), "%d ranks", function(p)
          local found, said = counted(least_latency(p), p), formula_44(p)
          local is_right = found.steps == said.steps and found.sent == said.sent and found.combined <= said.combined
          return is_right, string.format("%d combines, not %d", found.combined, said.combined)
        end)
      end,
      agrees = "= 0",
      disagrees = "> 0",
    },
    {
      asks = "of 3, 7, 15, 31 and 63 ranks those with fewer",
      counts = function()
        return exceptions({3, 7, 15, 31, 63}, "%d ranks", function(p)
          return counted(least_latency(p), p).combined == formula_44(p).combined
        end)
      end,
      agrees = "= 0",
      disagrees = "> 0",
    },
  },
  finds = "disagrees",
  because = "a slip at one end: on 2 ranks (44) has no combine, as its first and its last step are one, and one is needed; "
    .. "on 3 to 64 ranks it holds",
}

-- How many different sums of one block rank 0 has to keep after so many steps: those that are read later.
local function sums_kept_after(of, step)
  local value = contributions {ranks = of.ranks, blocks = of.blocks, steps = table.move(of.steps, 1, step, 1, {})}
  local count, is_kept, is_gone = 0, {}, {}
  for later = step + 1, #of.steps do
    local is_gone_here = setmetatable({}, {__index = is_gone})  -- a rank sees its own values as soon as they are made
    for _, a in ipairs(of.steps[later]) do
      for _, from in ipairs(a.block == 0 and a.from or {}) do
        if from.rank == 0 and not (a.rank == 0 and is_gone_here or is_gone)[from.slot] then
          local whose = {}
          for rank in pairs(value(0, 0, from.slot)) do whose[#whose + 1] = rank end
          table.sort(whose)
          local text = join(whose)
          count, is_kept[text] = count + (is_kept[text] and 0 or 1), true
        end
      end
      if a.rank == 0 and a.block == 0 then is_gone_here[a.slot] = true end
    end
    is_gone = is_gone_here
  end
  return count
end
local function sums_kept(algorithm, ranks)
  local of = plan(algorithm, ranks)
  return (most(numbers(1, #of.steps - 1), function(step) return sums_kept_after(of, step) end))
end

claim {
  id = "KZ-s9b",
  where = "§9",
  says = "cannot be combined even if they have the same placement",
  parts = {
    {
      asks = "the most unlike sums of the whole vector that a rank keeps between two steps of r = L, on 3 to 32 ranks that "
        .. "are no powers of two",
      counts = function()
        return each(numbers(3, 32, is_no_power), "%d ranks", function(p) return sums_kept("latency(radix=2)", p) end)
      end,
      agrees = ">= 2",
      disagrees = "<= 1",
    },
    {
      asks = "the same over Z₂^k, on 4, 8, 16 and 32 ranks",
      counts = function()
        return each({4, 8, 16, 32}, "%d ranks", function(p) return sums_kept("recursive_doubling", p) end)
      end,
      agrees = "= 1",
      disagrees = ">= 2",
    },
  },
}

claim {
  id = "KZ-t2",
  where = "Table 2",
  says = "Estimated point-to-point communication parameters for the 10GE cluster",
  parts = {
    {
      asks = "steps that (37) saves with them on 127 ranks, of 7: for 16 to 425 B, where figure 11 has the least latency",
      model = function()
        return each({16, 32, 64, 128, 256, 425}, "%d bytes", function(bytes) return formula_37(127, bytes, costs()) end)
      end,
      agrees = "= 7",
      disagrees = "<= 5",
    },
    {
      asks = "the same for 4 to 10 KB, the end of figure 7",
      model = function()
        return each({4000, 6000, 8000, 10000}, "%d bytes", function(bytes) return formula_37(127, bytes, costs()) end)
      end,
      agrees = "1..6",
      disagrees = "= 0 or = 7",
    },
    {
      asks = "the same for 0.25 to 32 MB, figure 8",
      model = function()
        return each(sizes(250000, 32000000), "%d bytes", function(bytes) return formula_37(127, bytes, costs()) end)
      end,
      agrees = "= 0",
      disagrees = ">= 2",
    },
    {
      asks = "seconds a byte of r = 0 from 0.1 to 1 MB, by β: 127 ranks, simulated, shuffled over 8 hosts at 10 Gbit/s",
      simulation = function()
        local function at(bytes) return simulated("kolmakov", "shuffled", 127, generalized(0), bytes) end
        local vectors = critical_vectors(generalized(0), 127)
        return (at(megabyte) - at(100000)) * 1e-6 / (0.9 * megabyte) / vectors / costs().beta
      end,
      agrees = "0.5..2",
      disagrees = "< 0.33 or > 3",
    },
  },
}

-- Allreduce over the cyclic group in the fewest steps with the fewest blocks.
local function different_chains(ranks)
  local found = {}
  for _, algorithm in ipairs {generalized(0), "circulant", "bruck", "dilated"} do
    local of, is_new = counted(algorithm, ranks), true
    for _, other in ipairs(found) do is_new = is_new and not same_messages(algorithm, other, ranks) end
    if is_new and of.steps == 2 * ceil_log(ranks) and of.sent == 2 * (ranks - 1) then found[#found + 1] = algorithm end
  end
  return #found
end

claim {
  id = "KZ-s11b",
  where = "§11; others",
  says = "they are not completely optimal and built with fixed communication patterns",
  asks = "different chains of ⌈log₂P⌉ shifts over one group, the cyclic one, on 5 to 64 ranks; [2], [4] and [6] have one "
    .. "pattern each",
  counts = function() return each(numbers(5, 64), "%d ranks", different_chains) end,
  agrees = ">= 2",
  disagrees = "<= 1",
}

claim {
  id = "KZ-f1",
  where = "§10, §11, future",
  says = "resulting in a smaller size of messages to be sent on each step",
  parts = {
    {
      asks = "whether at most 1, 2, 3, 4 and 8 blocks a step take 30, 16, 12, 10 and 8 steps on 16 ranks",
      counts = function()
        local steps = {}
        for i, cap in ipairs {1, 2, 3, 4, 8} do steps[i] = counted("capped(cap=" .. cap .. ")", 16).steps end
        return is_text(join(steps), "30, 16, 12, 10, 8")
      end,
      agrees = "= 1",
      disagrees = "= 0",
    },
    {
      asks = "numbers of ranks from 4 to 24 on which the most blocks in a message are not as many as are allowed, or more "
        .. "blocks take more steps, or steps do not go from 2(P−1) to 2⌈log₂P⌉",
      counts = function()
        return exceptions(numbers(4, 24), "%d ranks", function(p)
          local before
          for cap = 1, p // 2 do
            local at, largest = messages("capped(cap=" .. cap .. ")", p), 0
            for _, step in ipairs(at) do
              for _, message in ipairs(step) do largest = math.max(largest, message.blocks) end
            end
            if largest ~= cap or #at > (before or #at) or cap == 1 and #at ~= 2 * (p - 1) then return false end
            before = #at
          end
          return before == 2 * ceil_log(p)
        end)
      end,
      agrees = "= 0",
      disagrees = "> 0",
    },
    {
      asks = "the least time of capped, of 1 to P/2 blocks, by that of r = 0 from 16 MB on, on all ranks of this machine",
      run = function() return nil, "needs a run: allreduce of 16 and 64 MB, capped(cap=1, 2, …) and r = 0" end,
      agrees = "<= 0.98",
      disagrees = ">= 1",
    },
  },
}

-- The least of simulated times of the algorithms whose names begin with one of these texts.
local function least_simulated(beginnings, ranks, mapping, bytes)
  local found = math.huge
  for _, algorithm in ipairs(simulated_algorithms("torus", mapping, ranks)) do
    for _, beginning in ipairs(beginnings) do
      if algorithm:sub(1, #beginning) == beginning then
        found = math.min(found, simulated("torus", mapping, ranks, algorithm, bytes) or math.huge)
      end
    end
  end
  return found
end

claim {
  id = "KZ-f2",
  where = "§11, future",
  says = "may give a benefit when more complicated network topologies are considered",
  asks = "the least time over dihedral and binary groups by the least over the cyclic one, rings among them, where they "
    .. "differ most: simulated tori of 64, 128 and 256 hosts, 64 B to 1 MB",
  simulation = function()
    local all = {}
    for _, torus in ipairs {{64, "8x8"}, {64, "64"}, {128, "128"}, {256, "16x16"}} do
      for _, bytes in ipairs(simulated_sizes("torus", torus[2], torus[1])) do
        local cyclic = least_simulated({"generalized", "ring", "simgrid:lr", "latency"}, torus[1], torus[2], bytes)
        local others = least_simulated({"swing", "fold(group=d", "recursive"}, torus[1], torus[2], bytes)
        if cyclic < math.huge and others < math.huge then
          all[#all + 1] = {others / cyclic, string.format("%.2f on %s hosts, %d bytes", others / cyclic, torus[2], bytes)}
        end
      end
    end
    if #all == 0 then return nil, "not simulated" end
    local ratio, at = least(all, function(one) return one[1] end)
    return ratio, at[2]
  end,
  agrees = "<= 0.9",
  disagrees = ">= 1",
}
