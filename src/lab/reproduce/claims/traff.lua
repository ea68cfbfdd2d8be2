-- SPDX-License-Identifier: Apache-2.0
-- [T] has no parameters of a network: those of [KZ] are taken.
source {
  name = "traff",
  paper = "J. L. Träff: Optimal, Non-pipelined Reduce-scatter and Allreduce Algorithms",
}

local all_to_64 = numbers(2, 64)

-- Whether the schedule of a verb takes these steps, and its busiest rank sends, receives and combines so many blocks.
local function has(algorithm, ranks, verb, steps, blocks, combines)
  local found = counts(algorithm, ranks, verb)
  return found.steps == steps and found.sent == blocks and found.received == blocks and found.combined == combines,
    string.format("%d steps, %s blocks, %s combines", found.steps, found.sent, found.combined)
end

-- The messages that each rank gets of the reduce-scatter in a round: true where all get the same number of blocks from the
-- same distance.
local function is_alike(step, ranks, distance, blocks)
  if #step ~= ranks then return false end
  for _, message in ipairs(step) do
    if (message.to - message.from) % ranks ~= distance or message.blocks ~= blocks then return false end
  end
  return true
end

claim {
  id = "T-1",
  where = "title, \"Proposed solution\"",
  says = "guarantees optimal latency and bandwidth for any number of processors",
  asks = "numbers of ranks from 2 to 256 on which the reduce-scatter does not take ⌈log₂p⌉ rounds and p−1 blocks",
  counts = function()
    return exceptions(numbers(2, 256), "%d ranks", function(p)
      return has("circulant", p, "reduce_scatter", ceil_log(p), p - 1, p - 1)
    end)
  end,
  agrees = "= 0",
  disagrees = "> 0",
}

claim {
  id = "T-2",
  where = "\"Standard approaches\", table; ring",
  says = "Suffers from slow linear latency",
  asks = "numbers of ranks from 2 to 64 on which the ring does not take 2(p−1) steps and 2(p−1) blocks",
  counts = function()
    return exceptions(all_to_64, "%d ranks", function(p) return has("ring", p, "allreduce", 2 * (p - 1), 2 * (p - 1), p - 1) end)
  end,
  agrees = "= 0",
  disagrees = "> 0",
}

claim {
  id = "T-3",
  where = "\"Standard approaches\", table; hypercube",
  says = "Achieves fast logarithmic latency",
  parts = {
    {
      asks = "powers of two to 256 on which recursive halving does not take log₂p steps each way and 2(p−1) blocks",
      counts = function()
        return exceptions(numbers(2, 256, is_power), "%d ranks", function(p)
          return has("recursive_halving", p, "allreduce", 2 * floor_log(p), 2 * (p - 1), p - 1)
        end)
      end,
      agrees = "= 0",
      disagrees = "> 0",
    },
    {
      asks = "other numbers to 64 on which it takes another number of steps than 2⌊log₂p⌋ + 2",
      counts = function()
        return exceptions(numbers(2, 64, function(p) return not is_power(p) end), "%d ranks", function(p)
          return counts("recursive_halving", p).steps == 2 * floor_log(p) + 2
        end)
      end,
      agrees = "= 0",
      disagrees = "> 0",
    },
  },
}

claim {
  id = "T-4",
  where = "\"Proposed solution\"",
  says = "regular circulant graph",
  asks = "numbers of ranks from 2 to 128 on which a rank has not exactly ⌈log₂p⌉ different targets and as many sources",
  counts = function()
    return exceptions(numbers(2, 128), "%d ranks", function(p)
      local targets, sources = {}, {}
      for _, step in ipairs(messages("circulant", p, "reduce_scatter")) do
        for _, message in ipairs(step) do
          targets[message.from] = targets[message.from] or {}
          targets[message.from][message.to] = true
          sources[message.to] = sources[message.to] or {}
          sources[message.to][message.from] = true
        end
      end
      for rank = 0, p - 1 do
        for _, of in ipairs {targets[rank], sources[rank]} do
          local degree = 0
          for _ in pairs(of) do degree = degree + 1 end
          if degree ~= ceil_log(p) then return false, string.format("rank %d has %d", rank, degree) end
        end
      end
      return true
    end)
  end,
  agrees = "= 0",
  disagrees = "> 0",
}

claim {
  id = "T-5",
  where = "skips; 22 ranks",
  says = "The skip value",
  asks = "whether halving rounded up gives 22 ranks the skips 11, 6, 3, 2, 1",
  counts = function() return is_text(join(skips(22)), "11, 6, 3, 2, 1") end,
  agrees = "= 1",
  disagrees = "= 0",
}

claim {
  id = "T-6",
  where = "skips; any p",
  says = "ensures convergence and balanced message sizes",
  parts = {
    {
      asks = "numbers of ranks from 2 to 64 with a round in which two ranks get unlike numbers of blocks, or others than ⌊s′/2⌋",
      counts = function()
        return exceptions(all_to_64, "%d ranks", function(p)
          local before = p
          for round, step in ipairs(messages("circulant", p, "reduce_scatter")) do
            local skip = skips(p)[round]
            if not is_alike(step, p, p - skip, before - skip) and not is_alike(step, p, skip, before - skip) then
              return false, "round " .. round
            end
            before = skip
          end
          return true
        end)
      end,
      agrees = "= 0",
      disagrees = "> 0",
    },
    {
      asks = "whether the messages of 22 ranks have 11, 5, 3, 1, 1 blocks",
      counts = function()
        local blocks = {}
        for round, step in ipairs(messages("circulant", 22, "reduce_scatter")) do blocks[round] = step[1].blocks end
        return is_text(join(blocks), "11, 5, 3, 1, 1")
      end,
      agrees = "= 1",
      disagrees = "= 0",
    },
  },
}

claim {
  id = "T-7",
  where = "phase 1, start",
  says = "performs a critical 'rotated copy' of the data",
  asks = "vectors that the buffers R and T of phase 1 hold, p and the largest message's blocks, for 2 to 64 ranks",
  counts = function()
    return each(all_to_64, "%d ranks", function(p)
      local largest = 0
      for _, step in ipairs(messages("circulant", p, "reduce_scatter")) do
        for _, message in ipairs(step) do largest = math.max(largest, message.blocks) end
      end
      return (p + largest) / p
    end)
  end,
  agrees = "<= 1.5",
  disagrees = "> 1.5",
}

claim {
  id = "T-8",
  where = "phase 1, invariant",
  says = "consistently holds the partial sum for the block that will eventually reside on processor",
  asks = "numbers of ranks from 2 to 32 with a partial sum that has a contribution twice, or a block whose sum ends elsewhere",
  counts = function()
    return exceptions(numbers(2, 32), "%d ranks", function(p)
      local made = plan("circulant", p, "reduce_scatter")
      local held = contributions(made)
      for _, step in ipairs(made.steps) do
        for _, a in ipairs(step) do
          for _, times in pairs(held(a.rank, a.block, a.slot)) do
            if times ~= 1 then return false, "twice" end
          end
        end
      end
      for rank = 0, p - 1 do
        for block = 0, #made.blocks - 1 do
          if (made.result[rank + 1][block + 1] ~= nil) ~= (block == rank) then return false, "block " .. block end
        end
      end
      return true
    end)
  end,
  agrees = "= 0",
  disagrees = "> 0",
}

claim {
  id = "T-9",
  where = "phase 1, loop",
  says = "Each processor sends its relevant partial sums",
  asks = "numbers of ranks from 2 to 64 with a message over another distance than its round's skip",
  counts = function()
    return exceptions(all_to_64, "%d ranks", function(p)
      for round, step in ipairs(messages("circulant", p, "reduce_scatter")) do
        for _, message in ipairs(step) do
          local distance = (message.to - message.from) % p
          if distance ~= skips(p)[round] and distance ~= p - skips(p)[round] then return false, "round " .. round end
        end
      end
      return true
    end)
  end,
  agrees = "= 0",
  disagrees = "> 0",
}

claim {
  id = "T-10",
  where = "phase 1, end",
  says = "holds the complete, globally reduced result for its specific block",
  asks = "numbers of ranks from 2 to 32 on which a rank has its whole result before the last of ⌈log₂p⌉ rounds, or not after it",
  counts = function()
    return exceptions(numbers(2, 32), "%d ranks", function(p)
      local made = plan("circulant", p, "reduce_scatter")
      local held = contributions(made)
      local complete_in = {}
      for round, step in ipairs(made.steps) do
        for _, a in ipairs(step) do
          local contributors = 0
          for _ in pairs(held(a.rank, a.block, a.slot)) do contributors = contributors + 1 end
          if contributors == p then complete_in[a.rank] = complete_in[a.rank] or round end
        end
      end
      for rank = 0, p - 1 do
        if complete_in[rank] ~= ceil_log(p) then return false, "rank " .. rank end
      end
      return true
    end)
  end,
  agrees = "= 0",
  disagrees = "> 0",
}

claim {
  id = "T-11",
  where = "phase 2",
  says = "eliminating the need for a temporary buffer",
  asks = "numbers of ranks from 2 to 64 with a fold in phase 2, or a block that a rank is sent twice in it",
  counts = function()
    return exceptions(all_to_64, "%d ranks", function(p)
      local seen = {}
      local made = plan("circulant", p, "allgather")
      for _, step in ipairs(made.steps) do
        for _, a in ipairs(step) do
          local key = a.rank .. "." .. a.block
          if #a.from ~= 1 then return false, "a fold" end
          if seen[key] then return false, "block " .. a.block .. " twice" end
          seen[key] = true
        end
      end
      return true
    end)
  end,
  agrees = "= 0",
  disagrees = "> 0",
}

-- Phase 2 with the skips that a stack gives back: the blocks that rank 0 has at its end. Before a round that pops s′ each rank has
-- its next `has` blocks; it gets those from s to s′ of the rank s further on, where s is what it has.
local function blocks_after(popped, ranks)
  local has = 1
  for _, s in ipairs(popped) do
    if s > has then has = math.min(ranks, has + math.min(s - has, has)) end
  end
  return has
end

claim {
  id = "T-12",
  where = "phase 2, stack; 22 ranks",
  says = "Popping these values retrieves the sequence in reverse",
  asks = "of the 22 blocks those that a rank has in the end when 1, 2, 3, 6, 11 are popped, as printed",
  counts = function() return blocks_after({1, 2, 3, 6, 11}, 22) end,
  agrees = "= 22",
  disagrees = "< 22",
  finds = "disagrees",
  because = "the last round would have to reach 22: as printed a rank ends with 11 of 22 blocks; the sequence that gathers all is " ..
    "2, 3, 6, 11, 22, so the procedure has to push each skip before it halves it",
}

claim {
  id = "T-13",
  where = "table, algorithm 1",
  says = "This Paper (Alg 1: Reduce-Scatter)",
  parts = {
    {
      asks = "numbers of ranks from 2 to 128 on which the reduce-scatter has other cells than ⌈log₂p⌉ rounds and p−1 blocks",
      counts = function()
        return exceptions(numbers(2, 128), "%d ranks", function(p)
          return has("circulant", p, "reduce_scatter", ceil_log(p), p - 1, p - 1)
        end)
      end,
      agrees = "= 0",
      disagrees = "> 0",
    },
    {
      asks = "numbers of ranks from 3 to 64 on which it keeps the order of ranks, so that the operation need not commute",
      counts = function()
        local count = 0
        for p = 3, 64 do
          if counts("circulant", p, "reduce_scatter").ordered then count = count + 1 end
        end
        return count
      end,
      agrees = "= 0",
      disagrees = "> 0",
    },
  },
}

-- The least steps of all that are tried for so many ranks, send 2(p−1) blocks, and let a rank read of one other in a step, as the
-- source's model has it; and who takes them.
local function least_steps_of_optimal_volume(ranks)
  local steps, by = nil, nil
  for _, one in ipairs(algorithms(ranks)) do
    local found = counts(one, ranks)
    local is_optimal = found.sent == 2 * (ranks - 1) and found.received == 2 * (ranks - 1) and found.fan_in == 1
    if is_optimal and (not steps or found.steps < steps) then steps, by = found.steps, one end
  end
  if is_odd(ranks) then return steps, by end
  local tower = string.format("tower(factors=%dx2,saved_steps=1)", ranks // 2)
  local of_tower = counts(tower, ranks)
  if of_tower.sent == 2 * (ranks - 1) and of_tower.fan_in == 1 and of_tower.steps < steps then return of_tower.steps, tower end
  return steps, by
end

claim {
  id = "T-14",
  where = "table, algorithm 2",
  says = "This Paper (Alg 2: Allreduce)",
  parts = {
    {
      asks = "numbers of ranks from 2 to 64 on which the allreduce has other cells than 2⌈log₂p⌉ rounds and 2(p−1) blocks",
      counts = function()
        return exceptions(all_to_64, "%d ranks", function(p)
          return has("circulant", p, "allreduce", 2 * ceil_log(p), 2 * (p - 1), p - 1)
        end)
      end,
      agrees = "= 0",
      disagrees = "> 0",
    },
    {
      asks = "numbers of ranks from 2 to 32 on which a schedule with 2(p−1) blocks takes fewer rounds",
      counts = function()
        return exceptions(numbers(2, 32), "%d ranks", function(p)
          local steps, by = least_steps_of_optimal_volume(p)
          return steps >= 2 * ceil_log(p), by
        end)
      end,
      agrees = "= 0",
      disagrees = "> 0",
    },
  },
  finds = "disagrees",
  because = "the counts are those of the table, but no optimum: for every even p a tower of p/2 and 2, whose last exchange folds on both " ..
    "sides, takes one round less with the same 2(p−1) blocks and one combine more, which is proved the least; for odd p none of ours does",
}

claim {
  id = "T-15",
  where = "table, ring",
  says = "Works for any number of processors",
  parts = {
    {
      asks = "numbers of ranks from 2 to 64 on which there is no ring",
      counts = function() return exceptions(all_to_64, "%d ranks", function(p) return refusal("ring", p) == nil end) end,
      agrees = "= 0",
      disagrees = "> 0",
    },
    {
      asks = "numbers of ranks from 3 to 64 on which it keeps the order of ranks",
      counts = function()
        local count = 0
        for p = 3, 64 do
          if counts("ring", p).ordered then count = count + 1 end
        end
        return count
      end,
      agrees = "= 0",
      disagrees = "> 0",
    },
  },
}

claim {
  id = "T-16",
  where = "table, hypercube",
  says = "Restricted to scenarios where",
  parts = {
    {
      asks = "powers of two to 128 on which recursive halving has other cells than 2log₂p rounds, 2(p−1) blocks, rank order",
      counts = function()
        return exceptions(numbers(2, 128, is_power), "%d ranks", function(p)
          local found = counts("recursive_halving", p)
          return found.steps == 2 * floor_log(p) and found.sent == 2 * (p - 1) and found.ordered
        end)
      end,
      agrees = "= 0",
      disagrees = "> 0",
    },
    {
      asks = "powers of two to 128 on which recursive doubling, the heading's name, sends no more than O(p): over 2(p−1) blocks",
      counts = function()
        return exceptions(numbers(4, 128, is_power), "%d ranks", function(p)
          return counts("recursive_doubling", p).sent == p * floor_log(p)
        end)
      end,
      agrees = "= 0",
      disagrees = "> 0",
    },
  },
}

claim {
  id = "T-17",
  where = "conclusion; powers of two and above",
  says = "combines the optimal logarithmic latency of Hypercube-based approaches with the universal applicability of the Ring algorithm",
  parts = {
    {
      asks = "time of the circulant schedule by that of recursive halving at powers of two to 128, 64 B to 16 MB",
      model = function()
        local found = {}
        for _, p in ipairs {4, 8, 16, 32, 64, 128} do
          for _, bytes in ipairs {64, 4096, 1 << 20, 16 << 20} do
            found[#found + 1] = {p .. " ranks, " .. bytes .. " bytes", time("circulant", p, bytes) / time("recursive_halving", p, bytes)}
          end
        end
        return found
      end,
      agrees = "0.999..1.001",
      disagrees = "not 0.999..1.001",
    },
    {
      asks = "its time on 2^k + 1 ranks by that on 2^k, 1 MB and 16 MB",
      model = function()
        local found = {}
        for _, p in ipairs {8, 16, 32, 64, 128} do
          for _, bytes in ipairs {1 << 20, 16 << 20} do
            found[#found + 1] = {p + 1 .. " ranks, " .. bytes .. " bytes", time("circulant", p + 1, bytes) / time("circulant", p, bytes)}
          end
        end
        return found
      end,
      agrees = "<= 1.1",
      disagrees = "> 1.2",
    },
    {
      asks = "its time on 2^k + 1 ranks by recursive halving's, 1 MB and 16 MB",
      model = function()
        local found = {}
        for _, p in ipairs {9, 17, 33, 65, 129} do
          for _, bytes in ipairs {1 << 20, 16 << 20} do
            found[#found + 1] = {p .. " ranks, " .. bytes .. " bytes", time("circulant", p, bytes) / time("recursive_halving", p, bytes)}
          end
        end
        return found
      end,
      agrees = "<= 0.6",
      disagrees = "> 0.8",
    },
  },
}

claim {
  id = "T-18",
  where = "\"Constraints\"",
  says = "could lead to incorrect results with non-commutative operations",
  asks = "numbers of ranks from 2 to 64 on which the circulant schedule keeps the order of ranks but for 2, or does not on 2",
  counts = function()
    return exceptions(all_to_64, "%d ranks", function(p) return counts("circulant", p).ordered == (p == 2) end)
  end,
  agrees = "= 0",
  disagrees = "> 0",
}

claim {
  id = "T-19",
  where = "plots over p; 1 KB, 256 KB, 1 MB, 16 MB",
  says = "Allreduce Latency vs. Process Count (Buffer: 1KB)",
  parts = {
    {
      asks = "time of the ring by that of the circulant schedule at 1 KB",
      model = function()
        return each({16, 32, 64}, "%d ranks", function(p) return time("ring", p, 1024) / time("circulant", p, 1024) end)
      end,
      agrees = ">= 3",
      disagrees = "< 2",
    },
    {
      asks = "factors by which that ratio grows from 16 to 32 and from 32 to 64 ranks",
      model = function()
        return each({32, 64}, "%d ranks", function(p)
          local function ratio(ranks) return time("ring", ranks, 1024) / time("circulant", ranks, 1024) end
          return ratio(p) / ratio(p // 2)
        end)
      end,
      agrees = "> 1",
      disagrees = "<= 1",
    },
    {
      asks = "the ratio at 16 MB",
      model = function()
        return each({16, 32, 64}, "%d ranks", function(p)
          return time("ring", p, 16 << 20) / time("circulant", p, 16 << 20)
        end)
      end,
      agrees = "1..1.05",
      disagrees = "not 0.98..1.1",
    },
  },
}

claim {
  id = "T-20",
  where = "plots over size; 16, 32, 64 ranks",
  says = "Allreduce Latency vs. Buffer Size (16 Processes)",
  asks = "factors by which the ratio of ring and circulant changes from one size to the next: 1 KB, 256 KB, 1 MB, 16 MB",
  model = function()
    local found = {}
    for _, p in ipairs {16, 32, 64} do
      local before
      for _, bytes in ipairs {1 << 10, 256 << 10, 1 << 20, 16 << 20} do
        local now = time("ring", p, bytes) / time("circulant", p, bytes)
        if before then found[#found + 1] = {p .. " ranks, " .. bytes .. " bytes", now / before} end
        before = now
      end
    end
    return found
  end,
  agrees = "< 1",
  disagrees = "> 1",
}

claim {
  id = "T-21",
  where = "theorem 1, latency",
  says = "scheme guarantees convergence in logarithmic steps",
  asks = "numbers of ranks to a million with another number of skips than ⌈log₂p⌉: all to 4096, then every 997th",
  counts = function()
    local all = numbers(2, 4096)
    for p = 4097, 1000000, 997 do all[#all + 1] = p end
    all[#all + 1] = 1000000
    return exceptions(all, "%d ranks", function(p) return #skips(p) == ceil_log(p) end)
  end,
  agrees = "= 0",
  disagrees = "> 0",
}

claim {
  id = "T-22",
  where = "theorem 1, bandwidth",
  says = "Each processor sends and receives exactly the minimum data required",
  parts = {
    {
      asks = "numbers of ranks from 2 to 64 on which some rank sends or receives another number of blocks than p−1",
      counts = function()
        return exceptions(all_to_64, "%d ranks", function(p)
          local sent, received = {}, {}
          for _, step in ipairs(messages("circulant", p, "reduce_scatter")) do
            for _, message in ipairs(step) do
              sent[message.from] = (sent[message.from] or 0) + message.blocks
              received[message.to] = (received[message.to] or 0) + message.blocks
            end
          end
          for rank = 0, p - 1 do
            if sent[rank] ~= p - 1 or received[rank] ~= p - 1 then return false, "rank " .. rank end
          end
          return true
        end)
      end,
      agrees = "= 0",
      disagrees = "> 0",
    },
    {
      asks = "the least blocks that the busiest rank of any reduce-scatter that is tried receives, less p−1, for 2 to 32 ranks",
      counts = function()
        return each(numbers(2, 32), "%d ranks", function(p)
          return least(algorithms(p, "reduce_scatter"), function(one) return counts(one, p, "reduce_scatter").received end) - (p - 1)
        end)
      end,
      agrees = "= 0",
      disagrees = "< 0",
    },
  },
}

claim {
  id = "T-23",
  where = "proof",
  says = "Telescoping Series",
  asks = "numbers of ranks from 2 to 64 with a round k of which each message has other blocks than s_k − s_(k+1)",
  counts = function()
    return exceptions(all_to_64, "%d ranks", function(p)
      local before = p
      for round, step in ipairs(messages("circulant", p, "reduce_scatter")) do
        local skip = skips(p)[round]
        for _, message in ipairs(step) do
          if message.blocks ~= before - skip then return false, "round " .. round end
        end
        before = skip
      end
      return before == 1
    end)
  end,
  agrees = "= 0",
  disagrees = "> 0",
}

claim {
  id = "T-24",
  where = "six plots; 16 and 32 processes",
  says = "Non-Pipeline Allreduce: 16 Processes",
  not_judged = "a title alone: what the plots show is not said",
}

figure {
  name = "sizes",
  title = "time over size",
  unit = "microseconds",
  over = "bytes",
  draw = function()
    local points = {}
    for _, algorithm in ipairs {"ring", "recursive_halving", "circulant"} do
      for _, p in ipairs {16, 32, 64} do
        curve(points, algorithm, {1 << 10, 256 << 10, 1 << 20, 16 << 20}, function(bytes)
          return {ranks = p, bytes = bytes, algorithm = algorithm, value = time(algorithm, p, bytes)}
        end)
      end
    end
    return points
  end,
}
