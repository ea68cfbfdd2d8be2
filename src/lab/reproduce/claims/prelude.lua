-- SPDX-License-Identifier: Apache-2.0
-- Words that all files of claims use, made of those of ../vocabulary. ../README.md has a list of both.

-- A file declares its source, and adds claims and figures.
function source(of)
  declared.name, declared.paper, declared.claims, declared.figures = of.name, of.paper, {}, {}
end
local function add(to, of)
  if not declared[to] then error("a file begins with source {name = \"…\", paper = \"…\"}", 3) end
  table.insert(declared[to], of)
end
function claim(of) add("claims", of) end
function figure(of) add("figures", of) end

-- Logarithms of numbers of ranks, and powers of two beside them.
function ceil_log(ranks, radix)
  local steps, reached = 0, 1
  while reached < ranks do steps, reached = steps + 1, reached * (radix or 2) end
  return steps
end
function floor_log(ranks)
  local log = 0
  while 2 << log <= ranks do log = log + 1 end
  return log
end
function power_below(ranks) return 1 << floor_log(ranks) end
function is_power(ranks) return power_below(ranks) == ranks end
function is_odd(number) return number % 2 == 1 end

-- Lists of numbers: from one to another, all or those that a predicate takes; sizes by doubling.
function numbers(first, last, is_wanted)
  local all = {}
  for n = first, last do
    if not is_wanted or is_wanted(n) then all[#all + 1] = n end
  end
  return all
end
function sizes(first, last)
  local all, size = {}, first
  while size <= last do all[#all + 1], size = size, size * 2 end
  return all
end

-- The value of each case, labelled: {{"127 ranks", 1.2}, …}. `label` may have a %s for the case; cases for which the function
-- has no value are left out.
function each(cases, label, value_of)
  local found = {}
  for _, case in ipairs(cases) do
    local value = value_of(case)
    if type(value) == "boolean" then value = value and 1 or 0 end
    if value then found[#found + 1] = {string.format(label, case), value} end
  end
  return found
end

-- How many of the cases a predicate does not hold for, and for people the first of them.
function exceptions(cases, label, holds)
  local count, first = 0, nil
  for _, case in ipairs(cases) do
    local is_right, instead = holds(case)
    if not is_right then
      count = count + 1
      first = first or string.format(label, case) .. (instead and ": " .. instead or "")
    end
  end
  if count == 0 then return 0, string.format("none of %d cases", #cases) end
  return count, string.format("%d of %d cases, first %s", count, #cases, first)
end

-- A worked example: 1 if both texts are one, and what was found.
function is_text(found, expected) return found == expected and 1 or 0, found end

function join(list, between)
  local texts = {}
  for i, one in ipairs(list) do texts[i] = tostring(one) end
  return table.concat(texts, between or ", ")
end

function least(list, value_of)
  local found, value
  for _, one in ipairs(list) do
    local this = value_of and value_of(one) or one
    if not value or this < value then found, value = one, this end
  end
  return value, found
end
function most(list, value_of)
  local value, found = least(list, function(one) return -(value_of and value_of(one) or one) end)
  return -value, found
end

-- Where two curves over sizes cross for good: the size, interpolated, from which `curve` stays below `rival`; 0 if it always
-- is, infinite if it is above at the end.
function crossing(curve, rival, all)
  local found, before = 0, nil
  for i, size in ipairs(all) do
    local now = math.log(curve(size) / rival(size))
    if now >= 0 then
      found = math.huge
    elseif found == math.huge then
      found = all[i - 1] * (size / all[i - 1]) ^ (before / (before - now))
    end
    before = now
  end
  return found
end

-- The best of several algorithms by the model: microseconds, and which.
function best_time(all, ranks, bytes, with)
  return least(all, function(one) return time(one, ranks, bytes, with) end)
end
function generalized(saved) return string.format("generalized(saved_steps=%d)", saved) end
function all_generalized(ranks)
  local all = {}
  for saved = 0, ceil_log(ranks) do all[#all + 1] = generalized(saved) end
  return all
end

-- Messages of a step as a set: "from>to".
function pairs_of(step)
  local set = {}
  for _, message in ipairs(step) do set[message.from .. ">" .. message.to] = message.blocks end
  return set
end
function same_pairs(a, b)
  for key, blocks in pairs(a) do if b[key] ~= blocks then return false end end
  for key, blocks in pairs(b) do if a[key] ~= blocks then return false end end
  return true
end
-- Whether two algorithms send the same messages of the same size in each step.
function same_messages(a, b, ranks, verb)
  local first, second = messages(a, ranks, verb), messages(b, ranks, verb)
  if #first ~= #second then return false end
  for step = 1, #first do
    if not same_pairs(pairs_of(first[step]), pairs_of(second[step])) then return false end
  end
  return true
end
-- How many ranks neither send nor receive in a step.
function idle_ranks(step, ranks)
  local busy, count = {}, 0
  for _, message in ipairs(step) do busy[message.from], busy[message.to] = true, true end
  for rank = 0, ranks - 1 do if not busy[rank] then count = count + 1 end end
  return count
end

-- What ranks hold after the steps of a plan: value(rank, block, slot) is a table of how often it has each rank's contribution.
function contributions(of)
  local held = {}
  local function at(rank, block, slot) return string.format("%d.%d.%d", rank, block, slot) end
  for rank = 0, of.ranks - 1 do
    for block = 0, #of.blocks - 1 do held[at(rank, block, 0)] = {[rank] = 1} end
  end
  for _, step in ipairs(of.steps) do
    local made = {}
    for _, a in ipairs(step) do
      local sum = {}
      for _, from in ipairs(a.from) do
        local key = at(from.rank, a.block, from.slot)
        local part = from.rank == a.rank and made[key] or held[key]
        for rank, times in pairs(part) do sum[rank] = (sum[rank] or 0) + times end
      end
      made[at(a.rank, a.block, a.slot)] = sum
    end
    for key, sum in pairs(made) do held[key] = sum end
  end
  return function(rank, block, slot) return held[at(rank, block, slot)] end
end

-- The points of one curve of a figure.
function curve(points, name, all, point_of)
  for _, one in ipairs(all) do
    local made = point_of(one)
    made.curve = name
    points[#points + 1] = made
  end
end
