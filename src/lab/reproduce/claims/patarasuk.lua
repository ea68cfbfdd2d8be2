-- SPDX-License-Identifier: Apache-2.0
source {
  name = "patarasuk",
  paper = "P. Patarasuk, X. Yuan: Bandwidth Efficient All-reduce Operation on Tree Topologies",
}

-- Gigabit Ethernet between switches: 50 µs a message, 1 Gb/s each way. The text names the multiprocessors' network, but no
-- latency or bandwidth: at 2 µs and 1 Gb/s a message costs as much as 250 bytes.
local gigabit = {alpha = 5e-5, beta = 8e-9, gamma = 2e-10}
local hosts, kilobyte, megabyte = 32, 1024, 1 << 20

local function with(costs, more)
  local made = {}
  for key, value in pairs(costs) do made[key] = value end
  for key, value in pairs(more) do made[key] = value end
  return made
end

-- A simulated time; without it a function made by if_kept() has no numbers.
local not_simulated = {}
local function kept(...) return simulated(...) or error(not_simulated) end
local function if_kept(value_of)
  return function()
    local is_there, found = pcall(value_of)
    if is_there then return found end
    if found == not_simulated then return nil, "not simulated" end
    error(found, 0)
  end
end

-- A tree is a list of switches: {own = {hosts}, above = the number of another switch, none for the first}. As JSON it may
-- hang on any of them: the edges are the same.
local function json_of(tree, root)
  local near = {}
  for i = 1, #tree do near[i] = {} end
  for i, switch in ipairs(tree) do
    if switch.above then
      table.insert(near[i], switch.above)
      table.insert(near[switch.above], i)
    end
  end
  local lines = {}
  local function add(i, from)
    local below = {}
    for _, host in ipairs(tree[i].own) do below[#below + 1] = tostring(host) end
    for _, next in ipairs(near[i]) do
      if next ~= from then below[#below + 1] = string.format('"s%d"', next) end
    end
    lines[#lines + 1] = string.format('"s%d": [%s]', i, join(below))
    for _, next in ipairs(near[i]) do
      if next ~= from then add(next, i) end
    end
  end
  add(root or 1)
  return '{"tree": {' .. join(lines) .. "}}"
end

-- The source's two trees, as far as its text tells: four switches of eight hosts around a fifth, or in a chain. Hosts are
-- numbered switch by switch, or in turn over the switches.
local numberings = {"by switch", "in turn"}
local topologies = {
  {name = "(1)", chain = false, experiment = "patarasuk-star"},
  {name = "(2)", chain = true, experiment = "patarasuk-chain"},
}
local function switches(chain, numbering)
  local tree = chain and {} or {{own = {}}}
  for s = 0, 3 do
    local own = numbers(0, hosts - 1, function(host)
      return (numbering == "in turn" and host % 4 or host // 8) == s
    end)
    tree[#tree + 1] = {own = own, above = chain and (s > 0 and s or nil) or not chain and 1 or nil}
  end
  return json_of(tree)
end
local function on_switches(topology, numbering)
  return with(gigabit, {links = switches(topology.chain, numbering)})
end
-- {label, topology, numbering} of both trees, or of one.
local function each_numbered(topology, value_of)
  local found = {}
  for _, one in ipairs(topology and {topology} or topologies) do
    for _, numbering in ipairs(numberings) do
      found[#found + 1] = {one.name .. ", hosts " .. numbering, value_of(one, numbering)}
    end
  end
  return found
end

-- Random trees of so many hosts, always the same ones: switches hang below earlier ones; those at the ends have a host at
-- least. `shuffled`: hosts have any numbers; else they are numbered switch by switch, depth first.
local function random_tree(seed, ranks, shuffled)
  math.randomseed(seed)
  local tree, joined = {{own = {}}}, {0}
  for i = 2, math.random(2, 9) do
    local above = math.random(1, i - 1)
    tree[i], joined[i], joined[above] = {own = {}, above = above}, 1, joined[above] + 1
  end
  local order, at = numbers(0, ranks - 1), {}
  for i = 1, #tree do if joined[i] == 1 then at[#at + 1] = i end end
  while #at < ranks do at[#at + 1] = math.random(1, #tree) end
  if shuffled then
    for i = ranks, 2, -1 do
      local j = math.random(1, i)
      order[i], order[j] = order[j], order[i]
    end
  end
  local how_many = {}
  for _, i in ipairs(at) do how_many[i] = (how_many[i] or 0) + 1 end
  local next = 1
  local function number(i)
    for _ = 1, how_many[i] or 0 do
      table.insert(tree[i].own, order[next])
      next = next + 1
    end
    for j = i + 1, #tree do if tree[j].above == i then number(j) end end
  end
  number(1)
  return tree
end

-- Multiprocessors: so many hosts of so many ranks, numbered host by host.
local shapes = {{32, 2}, {64, 2}, {16, 4}, {32, 4}}
local function name_of(shape) return shape[1] .. "x" .. shape[2] end
local function ranks_of(shape) return shape[1] * shape[2] end
local function on_hosts(shape)
  local nodes = {}
  for i = 1, shape[1] do nodes[i] = shape[2] end
  return {alpha = 2e-6, beta = 8e-9, gamma = 2e-10, nodes = nodes}
end
local function of_nodes(name, shape, more)
  return string.format("%s(nodes=%d*%d%s)", name, shape[2], shape[1], more or "")
end
local function by_model(algorithm, shape)
  return function(bytes) return time(algorithm, ranks_of(shape), bytes, on_hosts(shape)) end
end
local function by_messages(algorithm, shape, turn)
  return function(bytes)
    return kept("patarasuk-native", name_of(shape) .. (turn or ""), ranks_of(shape), algorithm, bytes)
  end
end
-- In the best of these numbers of segments, at each size.
local function best_of_segments(shape, curve_of)
  local all = {}
  for _, segments in ipairs {1, 2, 4, 8, 16, 32} do
    all[#all + 1] = curve_of(of_nodes("smp_binomial", shape, ",segments=" .. segments), shape)
  end
  return function(bytes) return (least(all, function(one) return one(bytes) end)) end
end
local function ring_on(shape, curve_of) return curve_of(of_nodes("tree_ring", shape), shape) end
local function smp_rdb_on(shape, curve_of) return curve_of(of_nodes("smp_rdb", shape), shape) end
local function better_smp_on(shape, curve_of)
  local rdb, binomial = smp_rdb_on(shape, curve_of), best_of_segments(shape, curve_of)
  return function(bytes) return math.min(rdb(bytes), binomial(bytes)) end
end
local function each_shape(value_of)
  local found = {}
  for _, shape in ipairs(shapes) do found[#found + 1] = {name_of(shape), value_of(shape)} end
  return found
end
local function sizes_of(curve_of)
  return curve_of == by_messages and sizes(kilobyte, megabyte) or sizes(256, 4 * megabyte)
end
local function smp_crossing(shape, curve_of)
  return crossing(ring_on(shape, curve_of), better_smp_on(shape, curve_of), sizes_of(curve_of))
end
-- Bytes a process from which the ring is ahead of both on each shape, and the geometric mean.
local function smp_thresholds(curve_of)
  return each_shape(function(shape) return smp_crossing(shape, curve_of) / ranks_of(shape) end)
end
local function smp_threshold(curve_of)
  local product, all = 1, smp_thresholds(curve_of)
  for _, one in ipairs(all) do product = product * one[2] end
  return product ^ (1 / #all)
end
-- What the native routine may have been. Halving among ranks dealt in turn over hosts exchanges its long messages between
-- hosts: so does halving that begins with the farthest rank.
local natives = {
  {name = "recursive doubling", algorithm = function() return "recursive_doubling" end,
   messages = function(shape) return by_messages("recursive_doubling", shape) end},
  {name = "recursive halving", algorithm = function() return "recursive_halving" end,
   messages = function(shape) return by_messages("recursive_halving", shape) end},
  {name = "recursive halving, ranks in turn",
   algorithm = function(shape) return string.format("recursive_halving(permute=stride:%d)", shape[2]) end,
   messages = function(shape) return by_messages("recursive_halving", shape, " in turn") end},
}
local function native_on(native, shape, curve_of)
  if curve_of == by_messages then return native.messages(shape) end
  return by_model(native.algorithm(shape), shape)
end
local function each_native(some, value_of)
  local found = {}
  for _, shape in ipairs(some) do
    for _, native in ipairs(natives) do
      found[#found + 1] = {name_of(shape) .. ", " .. native.name, value_of(shape, native)}
    end
  end
  return found
end
local function native_crossing(shape, native, curve_of)
  return crossing(ring_on(shape, curve_of), native_on(native, shape, curve_of), sizes_of(curve_of))
end
-- A question by the model and by simulated messages: the same function of how a curve is had.
local function by_both(part, value_of)
  part.model = function() return value_of(by_model) end
  part.simulation = if_kept(function() return value_of(by_messages) end)
  return part
end

-- The rivals on the trees: MPICH by recursive halving, LAM by reduce and broadcast along binomial trees.
local rivals = {"recursive_halving", "binomial"}
local function tree_curve(algorithm, topology, numbering, curve_of)
  local on = on_switches(topology, numbering)
  return function(bytes)
    if curve_of == by_model then return time(algorithm, hosts, bytes, on) end
    if algorithm == "tree_ring" then algorithm, numbering = "tree_ring(nodes=8*4)", "by switch" end
    return kept(topology.experiment, numbering == "in turn" and numbering or "block", hosts, algorithm, bytes)
  end
end
local function best_rival(topology, numbering, curve_of)
  local all = {}
  for i, one in ipairs(rivals) do all[i] = tree_curve(one, topology, numbering, curve_of) end
  return function(bytes) return (least(all, function(one) return one(bytes) end)) end
end
local tree_sizes = {8 << 10, 32 << 10, 64 << 10, 128 << 10, 256 << 10, 512 << 10, megabyte}
local function tree_crossing(topology, numbering, curve_of)
  return crossing(tree_curve("tree_ring", topology, numbering, curve_of), best_rival(topology, numbering, curve_of),
                  curve_of == by_messages and tree_sizes or sizes(kilobyte, 4 * megabyte))
end
local function ring_over_rival(topology, numbering, curve_of, bytes)
  return tree_curve("tree_ring", topology, numbering, curve_of)(bytes) / best_rival(topology, numbering, curve_of)(bytes)
end

-- All registered allreduces of so many ranks, those refused left out.
local function registered(ranks)
  local all = {}
  for _, one in ipairs(algorithms(ranks)) do if not refusal(one, ranks) then all[#all + 1] = one end end
  return all
end
-- How many registered schedules a predicate of their counts does not hold for, on 2 to 64 ranks.
local function registered_exceptions(holds)
  local cases = {}
  for n = 2, 64 do for _, one in ipairs(registered(n)) do cases[#cases + 1] = {n, one} end end
  return exceptions(cases, "%s", function(case)
    return holds(case[1], counts(case[2], case[1])), case[2] .. " on " .. case[1] .. " ranks"
  end)
end
local function searched(value_of)
  if not least_messages then return nil, "no search" end
  return exceptions(numbers(2, 5), "%d ranks", value_of)
end
local function ring_of(ranks) return string.format("tree_ring(nodes=%d)", ranks) end
local function bound(ranks, bytes, costs) return (costs.alpha + 2 * (ranks - 1) / ranks * bytes * costs.beta) * 1e6 end
local function free_of_combining() return with(costs(gigabit), {gamma = 0}) end

claim {
  id = "PY-l1a",
  where = "Lemma 1, bound",
  says = "the minimum number of elements to be communicated is",
  parts = {
    {
      asks = "numbers of ranks from 2 to 5 on which an exhaustive search finds another least number of messages than "
        .. "2(N−1)",
      counts = function() return searched(function(n) return least_messages(n) == 2 * (n - 1), least_messages(n) end) end,
      agrees = "= 0",
      disagrees = "> 0",
    },
    {
      asks = "registered schedules on 2 to 64 ranks that send less than 2(N−1) vectors in all",
      counts = function() return registered_exceptions(function(n, of) return of.total > 2 * (n - 1) - 1e-9 end) end,
      agrees = "= 0",
      disagrees = "> 0",
    },
  },
}

claim {
  id = "PY-l1b",
  where = "Lemma 1, attained",
  says = "We prove a tight lower bound of the amount of data",
  asks = "numbers of ranks from 2 to 64 on which the tree's ring does not send 2(N−1) vectors in all",
  counts = function()
    return exceptions(numbers(2, 64), "%d ranks", function(n) return counts(ring_of(n), n).total == 2 * (n - 1) end)
  end,
  agrees = "= 0",
  disagrees = "> 0",
}

claim {
  id = "PY-l2",
  where = "Lemma 2",
  says = "at least one process that must communicate at least",
  parts = {
    {
      asks = "registered schedules on 2 to 64 ranks in which every rank sends less than 2(N−1)/N vectors",
      counts = function() return registered_exceptions(function(n, of) return of.sent > 2 * (n - 1) - 1e-9 end) end,
      agrees = "= 0",
      disagrees = "> 0",
    },
    {
      asks = "numbers of ranks from 2 to 64 on which the busiest rank of the ring, or of the fold with no step saved, "
        .. "does not send just that",
      counts = function()
        return exceptions(numbers(2, 64), "%d ranks", function(n)
          return counts(ring_of(n), n).sent == 2 * (n - 1) and counts(generalized(0), n).sent == 2 * (n - 1)
        end)
      end,
      agrees = "= 0",
      disagrees = "> 0",
    },
    {
      asks = "numbers of ranks from 2 to 5 on which the least number of messages, shared evenly, is less than 2(N−1)/N a "
        .. "rank",
      counts = function() return searched(function(n) return least_messages(n) / n > 2 * (n - 1) / n - 1e-9 end) end,
      agrees = "= 0",
      disagrees = "> 0",
    },
  },
}

claim {
  id = "PY-l3",
  where = "Lemma 3; T(s) = α + sβ",
  says = "communication completion time for the all-reduce operation is at least",
  parts = {
    {
      asks = "registered schedules priced below T(2(N−1)/N·m) where combining is free, on eight numbers of ranks from 2 "
        .. "to 64, 1 KB to 16 MB",
      model = function()
        local cases, on = {}, free_of_combining()
        for _, n in ipairs {2, 3, 5, 8, 13, 16, 32, 64} do
          for _, one in ipairs(registered(n)) do cases[#cases + 1] = {n, one} end
        end
        return exceptions(cases, "%s", function(case)
          local n, one = case[1], case[2]
          for bytes in pairs {[1 << 10] = 1, [1 << 17] = 1, [1 << 24] = 1} do
            if time(one, n, bytes, on) < bound(n, bytes, on) * (1 - 1e-9) then return false, one end
          end
          return true
        end)
      end,
      agrees = "= 0",
      disagrees = "> 0",
    },
    {
      asks = "time of the ring by that bound where a rank's part of the vector takes 100 times as long as a message",
      model = function()
        local on = free_of_combining()
        return each({2, 3, 8, 32, 64, 256}, "%d ranks", function(n)
          local bytes = n * 100 * on.alpha / on.beta
          return time(ring_of(n), n, bytes, on) / bound(n, bytes, on)
        end)
      end,
      agrees = "1..1.01",
      disagrees = "< 1 or > 1.05",
    },
  },
}

claim {
  id = "PY-s3a",
  where = "§3.1; 32 processes, long messages",
  says = "roughly 2 times the time to send an msize data",
  asks = "time of the ring by that of one message of the same size, 1 GB to 16 GB",
  model = function()
    local on = costs(gigabit)
    return each({1 << 30, 1 << 32, 1 << 34}, "%d B", function(bytes)
      return time(ring_of(hosts), hosts, bytes, gigabit) / ((on.alpha + bytes * on.beta) * 1e6)
    end)
  end,
  agrees = "1.9..2.1",
  disagrees = "not 1.9..2.1",
}

claim {
  id = "PY-a1",
  where = "Abstract (1)",
  says = "sent/received by each process is minimum",
  asks = "numbers of ranks from 2 to 64 on which some rank of the tree's ring does not send and receive 2(N−1)/N vectors",
  counts = function()
    return exceptions(numbers(2, 64), "%d ranks", function(n)
      local sent, received = {}, {}
      for _, step in ipairs(messages(ring_of(n), n)) do
        for _, m in ipairs(step) do
          sent[m.from] = (sent[m.from] or 0) + m.blocks
          received[m.to] = (received[m.to] or 0) + m.blocks
        end
      end
      for rank = 0, n - 1 do
        if sent[rank] ~= 2 * (n - 1) or received[rank] ~= 2 * (n - 1) then return false, "rank " .. rank end
      end
      return true
    end)
  end,
  agrees = "= 0",
  disagrees = "> 0",
}

claim {
  id = "PY-a2",
  where = "Abstract (2)",
  says = "the communications do not incur network contention on the tree topology",
  parts = {
    {
      asks = "most messages of the tree's ring that cross one link one way in one step, both trees and 100 random ones",
      counts = function()
        local found = each_numbered(nil, function(topology, numbering)
          return busiest("tree_ring", hosts, on_switches(topology, numbering)).messages
        end)
        found[#found + 1] = {"100 random trees", most(numbers(1, 100), function(seed)
          return busiest("tree_ring", 24, {links = json_of(random_tree(seed, 24, true))}).messages
        end)}
        return found
      end,
      agrees = "= 1",
      disagrees = "> 1",
    },
    {
      asks = "its transfers by what they would take if no message met another, 8 KB to 1 MB",
      model = function()
        return each_numbered(nil, function(topology, numbering)
          return most(tree_sizes, function(bytes)
            return price("tree_ring", hosts, bytes, on_switches(topology, numbering)).contention
          end)
        end)
      end,
      agrees = "= 1",
      disagrees = "> 1",
    },
  },
}

claim {
  id = "PY-a3",
  where = "Abstract; large data",
  says = "as efficiently as on any other topology when the data size is sufficiently large",
  parts = {
    {
      asks = "time of the tree's ring by that of a ring on one switch for all, 1 MB, 100 random trees of 24 hosts",
      model = function()
        local alone = time("ring", 24, megabyte, gigabit)
        return each(numbers(1, 100), "tree %d", function(seed)
          return time("tree_ring", 24, megabyte, with(gigabit, {links = json_of(random_tree(seed, 24, true))})) / alone
        end)
      end,
      agrees = "0.999..1.001",
      disagrees = "> 1.01 or < 0.999",
    },
    {
      asks = "the same by the bound of Lemma 3, where a rank's part of the vector takes 100 times as long as a message",
      model = function()
        local on = free_of_combining()
        local bytes = 24 * 100 * on.alpha / on.beta
        return each(numbers(1, 100), "tree %d", function(seed)
          local tree = json_of(random_tree(seed, 24, true))
          return time("tree_ring", 24, bytes, with(on, {links = tree})) / bound(24, bytes, on)
        end)
      end,
      agrees = "<= 1.01",
      disagrees = "> 1.01",
    },
  },
}

claim {
  id = "PY-s2a",
  where = "§2; fat trees",
  says = "very close to a cross-bar switch",
  asks = "time on a fat tree of four switches with eight hosts and eight ways up each, by that on one switch: three "
    .. "sizes, hosts switch by switch and shuffled",
  simulation = if_kept(function()
    local found = {}
    for _, way in ipairs {"", ", shuffled"} do
      for _, one in ipairs {"ring", "recursive_doubling", "recursive_halving", "binomial"} do
        found[#found + 1] = {one .. way, most({32 << 10, 128 << 10, 512 << 10}, function(bytes)
          return kept("fat-tree", "fat tree" .. way, hosts, one, bytes)
            / kept("fat-tree", "one switch" .. way, hosts, one, bytes)
        end)}
      end
    end
    return found
  end),
  agrees = "0.95..1.05",
  disagrees = "not 0.95..1.05",
  finds = "disagrees",
  because = "hosts numbered along the switches find a way of their own, and times are within 5 %; where they are "
    .. "shuffled, fixed routes put several messages on one way up and one down: 1.4 to 2.3 times the time",
}

claim {
  id = "PY-s2b",
  where = "§2",
  says = "at one time, a machine can send and receive one message",
  asks = "numbers of ranks from 2 to 64 on which a rank of the tree's ring has another number of sources or of targets "
    .. "than one in some step",
  counts = function()
    return exceptions(numbers(2, 64), "%d ranks", function(n)
      for _, step in ipairs(messages(ring_of(n), n)) do
        local from, to = {}, {}
        for _, m in ipairs(step) do
          if from[m.from] or to[m.to] then return false end
          from[m.from], to[m.to] = true, true
        end
        if #step ~= n then return false end
      end
      return true
    end)
  end,
  agrees = "= 0",
  disagrees = "> 0",
}

claim {
  id = "PY-3",
  where = "Fig. 3, §3.2; four processes",
  says = "implementation of reduce-scatter on four processes",
  parts = {
    {
      asks = "cases in which F(i) does not send segment (i−j) mod 4 to F(i+1) in iteration j = 1, 2, 3, depth first along "
        .. "a tree",
      counts = function()
        local tree = '{"tree": {"a": [2, "b"], "b": [0, 3, "c"], "c": [1]}}'
        local order, position = {2, 0, 3, 1}, {}  -- F, and where each rank is in it
        for i, rank in ipairs(order) do position[rank] = i - 1 end
        local steps = plan("tree_ring", 4, "allreduce", 0, tree).steps
        return exceptions(numbers(0, 11), "case %d", function(case)
          local j, i = case // 4 + 1, case % 4
          for _, a in ipairs(steps[j]) do
            if position[a.rank] == (i + 1) % 4 then
              local from = a.from[1].rank == a.rank and a.from[2].rank or a.from[1].rank
              return position[from] == i and a.block == (i - j) % 4, string.format("segment %d", a.block)
            end
          end
        end)
      end,
      agrees = "= 0",
      disagrees = "> 0",
    },
    {
      asks = "positions i of four at which segment i does not have all contributions after three iterations",
      counts = function()
        local of = plan(ring_of(4), 4)
        for step = #of.steps, 4, -1 do of.steps[step] = nil end
        local held, last = contributions(of), {}
        for _, step in ipairs(of.steps) do
          for _, a in ipairs(step) do if a.block == a.rank then last[a.rank] = a.slot end end
        end
        return exceptions(numbers(0, 3), "position %d", function(i)
          local sum = held(i, i, last[i])
          for rank = 0, 3 do if sum[rank] ~= 1 then return false end end
          return true
        end)
      end,
      agrees = "= 0",
      disagrees = "> 0",
    },
  },
}

claim {
  id = "PY-s3b",
  where = "§3.2",
  says = "network contention can significantly degrade the communication performance on the tree topology",
  parts = {
    {
      asks = "transfers of a ring of shuffled hosts by what they would take if no message met another, three shuffles on "
        .. "both trees",
      model = function()
        local found = {}
        for _, topology in ipairs(topologies) do
          for seed = 1, 3 do
            local ring = string.format("ring(permute=random:%d)", seed)
            found[#found + 1] = {topology.name .. ", shuffle " .. seed,
                                 price(ring, hosts, megabyte, on_switches(topology, "by switch")).contention}
          end
        end
        return found
      end,
      agrees = ">= 2",
      disagrees = "< 1.2",
    },
    {
      asks = "its time by that of the tree's ring at 1 MB",
      model = function()
        local found = {}
        for _, topology in ipairs(topologies) do
          local on = on_switches(topology, "by switch")
          for seed = 1, 3 do
            found[#found + 1] = {topology.name .. ", shuffle " .. seed,
                                 time(string.format("ring(permute=random:%d)", seed), hosts, megabyte, on)
                                   / time("tree_ring", hosts, megabyte, on)}
          end
        end
        return found
      end,
      simulation = if_kept(function()
        local found = {}
        for i, topology in ipairs(topologies) do
          found[i] = {topology.name, kept(topology.experiment, "shuffled", hosts, "ring", megabyte)
            / kept(topology.experiment, "block", hosts, "tree_ring(nodes=8*4)", megabyte)}
        end
        return found
      end),
      agrees = ">= 1.5",
      disagrees = "< 1.2",
    },
  },
}

claim {
  id = "PY-l4",
  where = "Lemma 4; step 1, 2",
  says = "The logical ring found by the above algorithm is contention-free",
  parts = {
    {
      asks = "switches of 400 random trees from which the ring along the tree has two messages on one link one way in one "
        .. "step",
      counts = function()
        local cases = {}
        for seed = 1, 400 do
          local ranks = 3 + seed % 14
          local tree = random_tree(seed, math.max(ranks, 9), true)
          for root = 1, #tree do cases[#cases + 1] = {seed, root, math.max(ranks, 9), tree} end
        end
        return exceptions(cases, "%s", function(case)
          return busiest("tree_ring", case[3], {links = json_of(case[4], case[2])}).messages == 1,
                 string.format("tree %d from switch %d", case[1], case[2])
        end)
      end,
      agrees = "= 0",
      disagrees = "> 0",
    },
    {
      asks = "share of 400 random trees on which a ring in any order of the hosts has",
      counts = function()
        local count = 0
        for seed = 1, 400 do
          local ranks = math.max(3 + seed % 14, 9)
          local tree = json_of(random_tree(seed, ranks, true))
          if busiest("ring", ranks, {links = tree}).messages > 1 then count = count + 1 end
        end
        return count / 400
      end,
      agrees = "> 0.5",
      disagrees = "<= 0.5",
    },
  },
}

claim {
  id = "PY-l5",
  where = "Lemma 5; two-level tree",
  says = "consecutive ranks are assigned to processors (or cores) in each SMP node",
  parts = {
    {
      asks = "most messages of the ring in the order of ranks that cross a link one way in one step, nodes of equal and "
        .. "of other sizes",
      counts = function()
        local found = {}
        for _, nodes in ipairs {{2, 2}, {4, 4, 4, 4}, {8, 8, 8, 8}, {3, 2}, {4, 3, 3}, {1, 5, 2, 7}} do
          local ranks = 0
          for _, size in ipairs(nodes) do ranks = ranks + size end
          found[#found + 1] = {join(nodes, "+"), busiest("ring", ranks, {nodes = nodes}).messages}
        end
        return found
      end,
      agrees = "= 1",
      disagrees = "> 1",
    },
    {
      asks = "the same where ranks are dealt in turn over nodes of equal sizes",
      counts = function()
        return each_shape(function(shape)
          return busiest(string.format("ring(permute=stride:%d)", shape[2]), ranks_of(shape), on_hosts(shape)).messages
        end)
      end,
      agrees = "> 1",
      disagrees = "= 1",
    },
  },
}

claim {
  id = "PY-s3c",
  where = "§3.2; all-gather",
  says = "exactly the same as the communication pattern used to realize the reduce-scatter operation",
  asks = "numbers of ranks from 2 to 64 on which some step of the tree's ring has other pairs of ranks than the first one",
  counts = function()
    return exceptions(numbers(2, 64), "%d ranks", function(n)
      local steps = messages(ring_of(n), n)
      local first = pairs_of(steps[1])
      for i, step in ipairs(steps) do if not same_pairs(first, pairs_of(step)) then return false, "step " .. i end end
      return #steps[1] == n
    end)
  end,
  agrees = "= 0",
  disagrees = "> 0",
}

claim {
  id = "PY-s3d",
  where = "§3.2; time",
  says = "sending and receiving",
  asks = "numbers of ranks from 2 to 64 on which the tree's ring has not 2(N−1) steps in each of which every rank sends "
    .. "and receives one N-th of the vector",
  counts = function()
    return exceptions(numbers(2, 64), "%d ranks", function(n)
      local steps = messages(ring_of(n), n)
      for i, step in ipairs(steps) do
        if #step ~= n or idle_ranks(step, n) > 0 then return false, "step " .. i end
        for _, m in ipairs(step) do if m.blocks ~= 1 then return false, "step " .. i end end
      end
      return #steps == 2 * (n - 1), #steps .. " steps"
    end)
  end,
  agrees = "= 0",
  disagrees = "> 0",
}

claim {
  id = "PY-s3e",
  unknown = {"hosts by switch", "hosts in turn"},
  where = "§3.2; thresholds",
  says = "the threshold value is around",
  parts = {
    by_both({
      asks = "bytes a process from which the ring is ahead of SMP-rdb and SMP-binomial, at 2 µs and 1 Gb/s, geometric "
        .. "mean of four shapes",
      agrees = "128..512",
      disagrees = "not 128..512",
    }, smp_threshold),
    by_both({
      asks = "bytes a process from which the tree's ring is ahead of recursive halving and of binomial trees on 32 hosts "
        .. "of Ethernet",
      agrees = "4096..16384",
      disagrees = "not 4096..16384",
    }, function(curve_of)
      return each_numbered(nil, function(one, numbering) return tree_crossing(one, numbering, curve_of) / hosts end)
    end),
    {
      asks = "the least of the second, hosts by switch, by the most of the first",
      model = function()
        local smp = most(shapes, function(shape) return smp_crossing(shape, by_model) / ranks_of(shape) end)
        return least(topologies, function(one) return tree_crossing(one, "by switch", by_model) end) / hosts / smp
      end,
      agrees = ">= 8",
      disagrees = "< 8",
    },
  },
  finds = "undecided",
  because = "the multiprocessors' 143 bytes agree at 2 µs a message, which is assumed; on the trees 5.7 and 7.8 KB do "
    .. "where hosts are numbered switch by switch, and 0.7 and 1.0 KB do not where they are numbered in turn; simulated, "
    .. "15 and 16 KB by switch and 1.8 and 2.0 in turn",
}

claim {
  id = "PY-5a",
  unknown = {"recursive doubling", "recursive halving", "recursive halving, ranks in turn"},
  where = "Fig. 5a; 32 nodes × 2, native",
  says = "out-performs the native routine when the data size is 16KB",
  parts = {
    by_both({
      asks = "bytes from which the ring is ahead of what the native routine may have been, 32 hosts of 2 ranks at 2 µs",
      agrees = "8192..32768",
      disagrees = "not 8192..32768",
    }, function(curve_of)
      return each_native({shapes[1]}, function(shape, native) return native_crossing(shape, native, curve_of) end)
    end),
  },
  finds = "undecided",
  because = "the text names neither the native algorithm nor the network; only halving whose long messages leave the host "
    .. "(ranks in turn, or the farthest first) crosses here, at 15 KB: recursive doubling is behind from 3.7 KB on, and "
    .. "halving that begins with neighbours carries no more over a host's link than the ring and stays ahead to 441 KB, "
    .. "simulated to 1 MB and more",
}

claim {
  id = "PY-5b",
  unknown = {"recursive doubling", "recursive halving", "recursive halving, ranks in turn"},
  where = "Fig. 5b; 64 nodes × 2, native",
  says = "our routine out-performs the native routine when the data size is 32KB",
  parts = {
    by_both({
      asks = "bytes from which the ring is ahead of what the native routine may have been, 64 hosts of 2 ranks at 2 µs",
      agrees = "16384..65536",
      disagrees = "not 16384..65536",
    }, function(curve_of)
      return each_native({shapes[2]}, function(shape, native) return native_crossing(shape, native, curve_of) end)
    end),
    by_both({
      asks = "this by the same of 32 hosts",
      agrees = "1..4",
      disagrees = "not 1..4",
    }, function(curve_of)
      local found = each_native({shapes[2]}, function(shape, native)
        return native_crossing(shape, native, curve_of) / native_crossing(shapes[1], native, curve_of)
      end)
      for i = #found, 1, -1 do if found[i][2] ~= found[i][2] then table.remove(found, i) end end  -- neither crosses
      return found
    end),
  },
  finds = "undecided",
  because = "as PY-5a: halving among ranks in turn crosses at 31 KB, recursive doubling at 6.1 KB, halving that begins "
    .. "with neighbours at 758 KB, simulated not to 1 MB; twice as many hosts make it 1.7 to 2.0 times as much with all",
}

claim {
  id = "PY-5c",
  unknown = {"recursive doubling", "recursive halving", "recursive halving, ranks in turn"},
  where = "Fig. 5; 32 and 64 nodes × 2",
  says = "As the data size increases, the performance difference is very significant",
  parts = {
    by_both({
      asks = "time of what the native routine may have been by that of the ring at 1 MB",
      agrees = ">= 2",
      disagrees = "< 1.5",
    }, function(curve_of)
      return each_native({shapes[1], shapes[2]}, function(shape, native)
        return native_on(native, shape, curve_of)(megabyte) / ring_on(shape, curve_of)(megabyte)
      end)
    end),
    by_both({
      asks = "doublings of the size from the crossing to 1 MB at which this ratio does not grow",
      agrees = "= 0",
      disagrees = "> 0",
    }, function(curve_of)
      return each_native({shapes[1], shapes[2]}, function(shape, native)
        local count, before = 0, nil
        for _, bytes in ipairs(sizes(kilobyte, megabyte)) do
          local ratio = native_on(native, shape, curve_of)(bytes) / ring_on(shape, curve_of)(bytes)
          if before and before > 1 and ratio <= before then count = count + 1 end
          before = ratio
        end
        return count
      end)
    end),
  },
  finds = "undecided",
  because = "it grows with all; at 1 MB recursive doubling takes 5.1 and 5.9 times the ring's time, halving among ranks "
    .. "in turn 1.9, and halving that begins with neighbours 1.0, since it is as sparing with the hosts' links",
}

claim {
  id = "PY-5d",
  where = "Fig. 5; SMP-rdb, SMP-binomial",
  says = "Our routine also performs significantly better than the two algorithms designed for SMP clusters",
  parts = {
    by_both({
      asks = "most by least of the bytes a process from which the ring is ahead of SMP-rdb and of SMP-binomial in its "
        .. "best number of segments on four shapes: up to 4, some latency puts all within a factor of 2 of the source's "
        .. "256",
      agrees = "<= 4",
      disagrees = "> 4",
    }, function(curve_of)
      local all = smp_thresholds(curve_of)
      local function value(one) return one[2] end
      return most(all, value) / (least(all, value))
    end),
    by_both({
      asks = "time of the ring by that of the better of both at 1 MB",
      agrees = "<= 0.6",
      disagrees = "> 0.6",
    }, function(curve_of)
      return each_shape(function(shape)
        return ring_on(shape, curve_of)(megabyte) / better_smp_on(shape, curve_of)(megabyte)
      end)
    end),
  },
}

claim {
  id = "PY-5e",
  unknown = {"recursive doubling", "recursive halving", "recursive halving, ranks in turn"},
  where = "Fig. 5; SMP-rdb, SMP-binomial",
  says = "both of which are better than the native all-reduce implementation",
  parts = {
    by_both({
      asks = "least time of what the native routine may have been by that of SMP-rdb, 16 KB to 1 MB on 32 hosts of 2 ranks",
      agrees = "> 1",
      disagrees = "<= 1",
    }, function(curve_of)
      return each_native({shapes[1]}, function(shape, native)
        return (least(sizes(16 << 10, megabyte), function(bytes)
          return native_on(native, shape, curve_of)(bytes) / smp_rdb_on(shape, curve_of)(bytes)
        end))
      end)
    end),
    by_both({
      asks = "the same by that of SMP-binomial in its best number of segments",
      agrees = "> 1",
      disagrees = "<= 1",
    }, function(curve_of)
      return each_native({shapes[1]}, function(shape, native)
        return (least(sizes(16 << 10, megabyte), function(bytes)
          return native_on(native, shape, curve_of)(bytes) / best_of_segments(shape, curve_of)(bytes)
        end))
      end)
    end),
  },
  finds = "undecided",
  because = "both are ahead of recursive doubling alone; they send five whole vectors over a host's link, halving 3.9 "
    .. "among ranks in turn and 1.9 where neighbours come first; no candidate for the native routine agrees with this and "
    .. "with the crossing of PY-5a",
}

claim {
  id = "PY-5f",
  where = "§4, reason",
  says = "separate inter-node communications and intra-node communications and have logically three phases",
  parts = {
    {
      asks = "vectors of the ring over a node's link each way, by 2(N−1)/N",
      counts = function()
        return each_shape(function(shape)
          local n = ranks_of(shape)
          return busiest(of_nodes("tree_ring", shape), n, on_hosts(shape)).vectors * n / (2 * (n - 1))
        end)
      end,
      agrees = "= 1",
      disagrees = "not 1..1",
    },
    {
      asks = "steps of the ring in which some rank is idle",
      counts = function()
        return each_shape(function(shape)
          local count, n = 0, ranks_of(shape)
          for _, step in ipairs(messages(of_nodes("tree_ring", shape), n)) do
            if idle_ranks(step, n) > 0 then count = count + 1 end
          end
          return count
        end)
      end,
      agrees = "= 0",
      disagrees = "> 0",
    },
    {
      asks = "vectors of SMP-rdb and SMP-binomial over a node's link each way, by the logarithm of the number of nodes",
      counts = function()
        local found = {}
        for _, name in ipairs {"smp_rdb", "smp_binomial"} do
          for _, shape in ipairs(shapes) do
            local vectors = busiest(of_nodes(name, shape), ranks_of(shape), on_hosts(shape)).vectors
            found[#found + 1] = {name .. ", " .. name_of(shape), vectors / ceil_log(shape[1])}
          end
        end
        return found
      end,
      agrees = ">= 1",
      disagrees = "< 1",
    },
    {
      asks = "share of ranks that idle in the steps between nodes of SMP-rdb",
      counts = function()
        return each_shape(function(shape)
          local n = ranks_of(shape)
          local steps = messages(of_nodes("smp_rdb", shape), n)
          return idle_ranks(steps[#steps // 2 + 1], n) / n
        end)
      end,
      agrees = "> 0",
      disagrees = "= 0",
    },
  },
}

claim {
  id = "PY-6a",
  unknown = {"recursive doubling", "recursive halving", "recursive halving, ranks in turn"},
  where = "Fig. 6; 16 × 4, 32 × 4",
  says = "is also around 256B in this cluster",
  parts = {
    by_both({
      asks = "bytes a process from which the ring is ahead of SMP-rdb and SMP-binomial on hosts of 4 ranks, at 2 µs",
      agrees = "128..512",
      disagrees = "not 128..512",
    }, function(curve_of)
      local found = {}
      for _, shape in ipairs {shapes[3], shapes[4]} do
        found[#found + 1] = {name_of(shape), smp_crossing(shape, curve_of) / ranks_of(shape)}
      end
      return found
    end),
    by_both({
      asks = "the same for what the native routine may have been",
      agrees = "128..512",
      disagrees = "not 128..512",
    }, function(curve_of)
      return each_native({shapes[3], shapes[4]}, function(shape, native)
        return native_crossing(shape, native, curve_of) / ranks_of(shape)
      end)
    end),
  },
  finds = "disagrees",
  because = "it holds against SMP-rdb and SMP-binomial; the ring is ahead of recursive doubling from 27 to 33 bytes a "
    .. "process, of halving among ranks in turn from 84, of halving that begins with neighbours from 4.8 to 8.2 KB",
}

claim {
  id = "PY-6b",
  unknown = {"recursive doubling", "recursive halving", "recursive halving, ranks in turn"},
  where = "Fig. 6; 16 × 4 against 32 × 2",
  says = "trend in the relative performance between our routine and the native",
  asks = "most by which native over ring differs between 16 hosts of 4 ranks and 32 of 2, at 1 to 64 times the size of "
    .. "the crossing",
  model = function()
    local found = {}
    for _, native in ipairs(natives) do
      local function ratio(shape, times)
        local bytes = native_crossing(shape, native, by_model) * times
        return native_on(native, shape, by_model)(bytes) / ring_on(shape, by_model)(bytes)
      end
      found[#found + 1] = {native.name, most({1, 2, 4, 8, 16, 32, 64}, function(times)
        return math.abs(ratio(shapes[3], times) / ratio(shapes[1], times) - 1)
      end)}
    end
    return found
  end,
  agrees = "<= 0.3",
  disagrees = "> 0.3",
  finds = "undecided",
  because = "with recursive doubling and with halving among ranks in turn a host's link carries the more the more ranks "
    .. "it has, the ring's does not: native over ring is 1.5 and 1.9 times as much on hosts of 4; only halving that "
    .. "begins with neighbours keeps the trend",
}

claim {
  id = "PY-6c",
  unknown = {"recursive doubling", "recursive halving", "recursive halving, ranks in turn"},
  where = "§4; MPICH",
  says = "algorithm is not bandwidth efficient on the SMP clusters",
  asks = "vectors over a node's link of what the native routine may have been, by those of the ring",
  counts = function()
    return each_native(shapes, function(shape, native)
      local n, on = ranks_of(shape), on_hosts(shape)
      return busiest(native.algorithm(shape), n, on).vectors / busiest(of_nodes("tree_ring", shape), n, on).vectors
    end)
  end,
  agrees = ">= 2",
  disagrees = "< 1.2",
  finds = "undecided",
  because = "true of recursive doubling, 5 to 10 times the ring's vectors, and of halving among ranks in turn on hosts of "
    .. "4; halving that begins with neighbours, as MPICH's, carries 0.95 to 0.99 of the ring's where ranks are numbered "
    .. "host by host",
}

claim {
  id = "PY-8a",
  unknown = {"hosts by switch", "hosts in turn"},
  where = "Fig. 8a; 32 hosts, topology (1)",
  says = "the proposed algorithm is the best among the three routines when the data size is more than 256KB",
  parts = {
    by_both({
      asks = "bytes from which the tree's ring is ahead of recursive halving and of binomial trees, behind below",
      agrees = "131072..524288",
      disagrees = "not 131072..524288",
    }, function(curve_of)
      return each_numbered(topologies[1], function(one, numbering) return tree_crossing(one, numbering, curve_of) end)
    end),
  },
  finds = "undecided",
  because = "hosts numbered switch by switch agree, 249 KB by the model and 510 KB simulated; numbered in turn, the "
    .. "rivals' messages meet between switches and the ring is ahead from 31 and 63 KB; the text does not say how they "
    .. "were numbered",
}

claim {
  id = "PY-8b",
  unknown = {"hosts by switch", "hosts in turn"},
  where = "Fig. 8b; topology (2)",
  says = "the proposed algorithm is better when the data size is more than 128KB",
  parts = {
    by_both({
      asks = "bytes from which the tree's ring is ahead of recursive halving and of binomial trees, behind below",
      agrees = "65536..262144",
      disagrees = "not 65536..262144",
    }, function(curve_of)
      return each_numbered(topologies[2], function(one, numbering) return tree_crossing(one, numbering, curve_of) end)
    end),
    by_both({
      asks = "this by the same of topology (1)",
      agrees = "< 1",
      disagrees = ">= 1",
    }, function(curve_of)
      return each_numbered(topologies[2], function(one, numbering)
        return tree_crossing(one, numbering, curve_of) / tree_crossing(topologies[1], numbering, curve_of)
      end)
    end),
  },
  finds = {model = "undecided", simulation = "disagrees"},
  because = "it is lower than on (1), and by the model 184 KB where hosts are numbered switch by switch, 22 KB in turn; "
    .. "simulated, a message between the ends of the chain takes 122 µs instead of 50 and each of the ring's 62 steps "
    .. "waits for the slowest, so that it is ahead from 479 and 59 KB",
}

claim {
  id = "PY-8c",
  unknown = {"hosts by switch", "hosts in turn"},
  where = "§4; 64 KB",
  says = "it is still more important to reduce the communication start-up overheads",
  parts = {
    by_both({
      asks = "time of the tree's ring by that of the better rival at 64 KB",
      agrees = "> 1",
      disagrees = "<= 1",
    }, function(curve_of)
      return each_numbered(nil, function(one, numbering) return ring_over_rival(one, numbering, curve_of, 64 << 10) end)
    end),
  },
  finds = "undecided",
  because = "so it is where hosts are numbered switch by switch; numbered in turn, the rivals' messages meet and the ring "
    .. "takes 0.45 and 0.59 of their time, simulated 0.92 and 0.98",
}

claim {
  id = "PY-8d",
  unknown = {"hosts by switch", "hosts in turn"},
  where = "§4; large data",
  says = "network contention becomes a problem and our contention-free algorithm is much more efficient",
  parts = {
    {
      asks = "transfers of recursive halving by what they would take if no message met another, 1 MB",
      model = function()
        return each_numbered(nil, function(one, numbering)
          return price("recursive_halving", hosts, megabyte, on_switches(one, numbering)).contention
        end)
      end,
      agrees = ">= 1.5",
      disagrees = "< 1.2",
    },
    {
      asks = "the same of reduce and broadcast along binomial trees",
      model = function()
        return each_numbered(nil, function(one, numbering)
          return price("binomial", hosts, megabyte, on_switches(one, numbering)).contention
        end)
      end,
      agrees = ">= 1.5",
      disagrees = "< 1.2",
    },
    by_both({
      asks = "time of the tree's ring by that of the better of both at 1 MB",
      agrees = "<= 0.7",
      disagrees = ">= 1",
    }, function(curve_of)
      return each_numbered(nil, function(one, numbering) return ring_over_rival(one, numbering, curve_of, megabyte) end)
    end),
  },
  finds = "undecided",
  because = "numbered switch by switch, a binomial tree sends one message a step over each link and suffers no "
    .. "contention; numbered in turn it does (3.8), but then the ring is ahead from far less than the source's 256 KB: no "
    .. "numbering agrees with both; simulated by switch the ring takes 0.74 and 0.80 of the better rival's time",
}

-- Of the time of recursive halving, what messages wait for each other.
local function lost_share(topology, numbering, bytes)
  local found = price("recursive_halving", hosts, bytes, on_switches(topology, numbering))
  return (found.transfer - found.transfer / found.contention) / found.total
end

claim {
  id = "PY-8e",
  unknown = {"hosts by switch", "hosts in turn"},
  where = "§4; topology (2)",
  says = "the MPICH algorithm introduces serious network contention in the system when the data size is larger than",
  parts = {
    {
      asks = "bytes from which recursive halving loses a quarter of its time and more to contention",
      model = function()
        return each_numbered(topologies[2], function(one, numbering)
          return crossing(function() return 0.25 end, function(bytes) return lost_share(one, numbering, bytes) end,
                          sizes(256, 16 * megabyte))
        end)
      end,
      agrees = "65536..262144",
      disagrees = "not 65536..262144",
    },
    {
      asks = "the share lost at 1 MB by that on topology (1)",
      model = function()
        return each_numbered(topologies[2], function(one, numbering)
          return lost_share(one, numbering, megabyte) / lost_share(topologies[1], numbering, megabyte)
        end)
      end,
      agrees = "> 1",
      disagrees = "<= 1",
    },
  },
  finds = "disagrees",
  because = "in the model contention is one factor at all sizes, and its share of the time grows smoothly as latencies "
    .. "matter less: a quarter is lost from 18 KB on by switch and from 1.5 KB in turn; what begins at 128 KB has to be "
    .. "something else, such as an algorithm that changes there, or switches that drop what they cannot hold",
}

claim {
  id = "PY-8f",
  where = "§4; Ethernet and multiprocessors",
  says = "start-up overhead is much larger than that in high-end clusters",
  asks = "threshold a process on the tree, hosts by switch, by that on multiprocessors, where messages take 25 times as "
    .. "long: is it the source's 32, within a factor of 2",
  model = function()
    local found = {}
    for i, one in ipairs(topologies) do
      found[i] = {one.name, tree_crossing(one, "by switch", by_model) / hosts / smp_threshold(by_model)}
    end
    return found
  end,
  agrees = "16..64",
  disagrees = "not 16..64",
}

claim {
  id = "PY-8g",
  unknown = {"hosts numbered by switch", "hosts numbered anyhow"},
  where = "§4; other topologies",
  says = "We performed experiments on other topologies and the trend is similar",
  asks = "random trees of 32 hosts, of 20, on which the crossing with the better rival is outside 64 to 512 KB",
  model = function()
    local found = {}
    for _, way in ipairs {"by switch", "anyhow"} do
      found[#found + 1] = {"hosts numbered " .. way, (exceptions(numbers(1, 20), "tree %d", function(seed)
        local on = with(gigabit, {links = json_of(random_tree(seed, hosts, way == "anyhow"))})
        local at = crossing(function(bytes) return time("tree_ring", hosts, bytes, on) end, function(bytes)
          return (best_time(rivals, hosts, bytes, on))
        end, sizes(kilobyte, 4 * megabyte))
        return at >= 64 << 10 and at <= 512 << 10
      end))}
    end
    return found
  end,
  agrees = "= 0",
  disagrees = "> 4",
  finds = "disagrees",
  because = "numbered switch by switch 13 of 20 trees cross there and seven at 57 to 64 KB; numbered anyhow, rivals meet "
    .. "more messages and all cross at 19 to 32 KB",
}

-- A random tree over nodes of these sizes, and how many ranks they have: nodes are numbered depth first, or anyhow.
local function tree_over(nodes, seed, shuffled)
  local tree, lines, ranks = random_tree(seed, #nodes, shuffled), {}, 0
  for i, size in ipairs(nodes) do
    lines[i] = string.format('"n%d": [%s]', i - 1, join(numbers(ranks, ranks + size - 1)))
    ranks = ranks + size
  end
  for _, switch in ipairs(tree) do
    for i, node in ipairs(switch.own) do switch.own[i] = string.format('"n%d"', node) end
  end
  return (json_of(tree):gsub("}}$", ", " .. join(lines) .. "}}")), ranks
end
local function some_nodes(seed)
  math.randomseed(seed)
  local nodes = {}
  for i = 1, math.random(9, 12) do nodes[i] = math.random(1, 4) end
  return nodes
end

claim {
  id = "PY-s3f",
  where = "§3.2; topology unknown",
  says = "this algorithm cannot be directly used in a high-end SMP cluster",
  parts = {
    {
      asks = "random trees, of 100, over nodes numbered depth first, whose ring is not that made from the sizes of the "
        .. "nodes alone",
      counts = function()
        return exceptions(numbers(1, 100), "tree %d", function(seed)
          local nodes = some_nodes(seed)
          local tree, ranks = tree_over(nodes, seed)
          local along, alone = messages("tree_ring", ranks, "allreduce", 0, tree),
            messages(string.format("tree_ring(nodes=%s)", join(nodes, "+")), ranks)
          for i = 1, #along do if not same_pairs(pairs_of(along[i]), pairs_of(alone[i])) then return false end end
          return #along == #alone
        end)
      end,
      agrees = "= 0",
      disagrees = "> 0",
    },
    {
      asks = "share of 100 such trees, nodes numbered anyhow, on which the ring from the sizes alone has two messages on "
        .. "one link",
      counts = function()
        local count = 0
        for seed = 1, 100 do
          local nodes = some_nodes(seed)
          local tree, ranks = tree_over(nodes, seed, true)
          local ring = string.format("tree_ring(nodes=%s)", join(nodes, "+"))
          if busiest(ring, ranks, {links = tree}).messages > 1 then count = count + 1 end
        end
        return count / 100
      end,
      agrees = ">= 0.5",
      disagrees = "= 0",
    },
  },
}

claim {
  id = "PY-s4a",
  where = "§4; generator",
  says = "automatically produces an all-reduce routine",
  asks = "trees, of the two, on which the routine of `coset generate` gives a wrong sum over MPI",
  run = function()
    return nil, "needs a run: 32 processes of the routine of either tree; the command's tests do that, the sums are right"
  end,
  agrees = "= 0",
  disagrees = "> 0",
}

claim {
  id = "PY-s4b",
  where = "§4; method",
  says = "Twenty iterations are measured for all",
  asks = "95 % interval of 32 samples of 20 allreduces by bitwise or, as a share of their mean",
  run = function() return nil, "needs a run: allreduces over MPI, each sample by itself" end,
  agrees = "<= 0.05",
  disagrees = "> 0.05",
}

claim {
  id = "PY-s4c",
  unknown = {"recursive doubling", "recursive halving", "recursive halving, ranks in turn"},
  where = "Abstract; multiprocessors and Ethernet",
  says = "significantly out-perform the native",
  parts = {
    by_both({
      asks = "least time of what the native routine may have been by that of the ring, 256 KB to 1 MB on the four shapes",
      agrees = ">= 1.5",
      disagrees = "< 1.2",
    }, function(curve_of)
      return each_native(shapes, function(shape, native)
        return (least(sizes(256 << 10, megabyte), function(bytes)
          return native_on(native, shape, curve_of)(bytes) / ring_on(shape, curve_of)(bytes)
        end))
      end)
    end),
  },
  finds = "undecided",
  because = "as PY-5c: 1.8 to 9.1 times with recursive doubling and with halving among ranks in turn, but halving that "
    .. "begins with neighbours takes 0.94 to 0.98 of the ring's time at 256 KB",
}

local function draw_tree(topology)
  return function()
    local points = {}
    for _, numbering in ipairs(numberings) do
      local on = on_switches(topology, numbering)
      for _, one in ipairs {{"tree ring", "tree_ring"}, {"recursive halving", "recursive_halving"},
                            {"recursive doubling", "recursive_doubling"}, {"reduce and broadcast", "binomial"}} do
        curve(points, one[1], sizes(8 << 10, megabyte), function(bytes)
          local found = price(one[2], hosts, bytes, on)
          local sent = tree_curve(one[2], topology, numbering, by_messages)
          return {setting = "hosts " .. numbering, ranks = hosts, bytes = bytes, value = found.total, algorithm = one[2],
                  contention = found.contention, simulated = (if_kept(function() return sent(bytes) end)())}
        end)
      end
    end
    return points
  end
end

figure {
  name = "tree1",
  title = "four switches of eight hosts around a fifth",
  unit = "microseconds",
  over = "bytes",
  draw = draw_tree(topologies[1]),
}

figure {
  name = "tree2",
  title = "four switches of eight hosts in a chain",
  unit = "microseconds",
  over = "bytes",
  draw = draw_tree(topologies[2]),
}

figure {
  name = "smp",
  title = "hosts of 2 and 4 ranks, 2 µs a message",
  unit = "microseconds",
  over = "bytes",
  draw = function()
    local points = {}
    for _, shape in ipairs(shapes) do
      local function add(name, algorithm, model, sent)
        curve(points, name, sizes(kilobyte, megabyte), function(bytes)
          return {setting = string.format("%d hosts of %d", shape[1], shape[2]), ranks = ranks_of(shape), bytes = bytes,
                  algorithm = algorithm, value = model(bytes), simulated = (if_kept(function() return sent(bytes) end)())}
        end)
      end
      for _, one in ipairs {{"tree ring", "tree_ring"}, {"SMP-rdb", "smp_rdb"}} do
        local algorithm = of_nodes(one[2], shape)
        add(one[1], algorithm, by_model(algorithm, shape), by_messages(algorithm, shape))
      end
      add("SMP-binomial, best of segments", of_nodes("smp_binomial", shape), best_of_segments(shape, by_model),
          best_of_segments(shape, by_messages))
      for _, native in ipairs(natives) do
        add(native.name, native.algorithm(shape), by_model(native.algorithm(shape), shape), native.messages(shape))
      end
    end
    return points
  end,
}
