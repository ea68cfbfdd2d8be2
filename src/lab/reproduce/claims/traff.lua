-- SPDX-License-Identifier: Apache-2.0
source {
  name = "traff",
  paper = "J. L. Träff: Optimal, Non-pipelined Reduce-scatter and Allreduce Algorithms",
}

claim {
  id = "T-1",
  where = "title, \"Proposed solution\"",
  says = "guarantees optimal latency and bandwidth for any number of processors",
  asks = "numbers of ranks from 2 to 256 on which the reduce-scatter does not take ⌈log₂p⌉ rounds and p−1 blocks",
  counts = function()
    return exceptions(numbers(2, 256), "%d ranks", function(p)
      local found = counts("circulant", p, "reduce_scatter")
      return found.steps == ceil_log(p) and found.sent == p - 1 and found.received == p - 1
    end)
  end,
  agrees = "= 0",
  disagrees = "> 0",
}

claim {
  id = "T-5",
  where = "skips; 22 ranks",
  says = "The skip value",
  asks = "whether 22 ranks have the skips 11, 6, 3, 2, 1 of halving, rounded up",
  counts = function() return is_text(join(skips(22)), "11, 6, 3, 2, 1") end,
  agrees = "= 1",
  disagrees = "= 0",
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
      disagrees = "< 3",
    },
    {
      asks = "the same at 16 MB",
      model = function()
        return each({16, 32, 64}, "%d ranks", function(p)
          return time("ring", p, 16 << 20) / time("circulant", p, 16 << 20)
        end)
      end,
      agrees = "1..1.05",
      disagrees = "not 1..1.05",
    },
  },
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
