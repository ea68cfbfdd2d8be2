// SPDX-License-Identifier: Apache-2.0
// Printing a schedule as C over MPI: a table for each rank, and one loop that carries tables out.
#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "base/text/format.hpp"
#include "lab/foreign/foreign.hpp"
#include "lab/foreign/messages.hpp"
#include "planning/schedule/core/events.hpp"
#include "planning/schedule/core/validate.hpp"

namespace coset::schedule {
namespace {

constexpr char const* loop = R"(
/* The call under way. Values of the vector's blocks are numbered: those that a rank makes or receives from 0, its own
   input of block b is -1 - b. */
struct call {
  const char *in;
  char *scratch, *spare;
  long long n, in_first;
  const int *blocks;
  MPI_Aint *offset, extent;
  MPI_Datatype type;
  MPI_Op op;
  int commutative;
};

static long long begin_of(int block, long long n) {
  return n / PARTS * begins[block] + n % PARTS * begins[block] / PARTS;
}

static int block_of(const struct call *c, int value) { return value < 0 ? -1 - value : c->blocks[value]; }

static int length_of(const struct call *c, int value) {
  int block = block_of(c, value);
  return (int)(begin_of(block + 1, c->n) - begin_of(block, c->n));
}

static char *place_of(const struct call *c, int value) {
  if (value >= 0) return c->scratch + c->offset[value];
  return (char *)c->in + (begin_of(-1 - value, c->n) - c->in_first) * c->extent;
}

static int copy(const struct call *c, const char *from, char *to, int length) {
  if (from == to || length == 0) return MPI_SUCCESS;
  return MPI_Sendrecv(from, length, c->type, 0, 0, to, length, c->type, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
}

/* MPI_Reduce_local has the second operand replaced: what is folded so far is the first one, unless the operation
   commutes. */
static int fold(const struct call *c, int target, const int *from, int sources) {
  int i, status, length = length_of(c, target);
  char *into = place_of(c, target), *so_far = place_of(c, from[0]);
  if (sources == 1 || c->commutative) status = copy(c, so_far, into, length);
  else status = MPI_SUCCESS;
  for (i = 1; i < sources && length > 0 && status == MPI_SUCCESS; ++i) {
    char *next = (sources - i) % 2 == 1 ? into : c->spare;
    if (c->commutative) {
      status = MPI_Reduce_local(place_of(c, from[i]), into, length, c->type, c->op);
      continue;
    }
    status = copy(c, place_of(c, from[i]), next, length);
    if (status == MPI_SUCCESS) status = MPI_Reduce_local(so_far, next, length, c->type, c->op);
    so_far = next;
  }
  return status;
}

/* One message with all values that a rank sends to another in a step. */
static int start(const struct call *c, int sends, int peer, const int *values, int count, MPI_Comm comm,
                 MPI_Request *request) {
  int lengths[MOST_VALUES], i, status;
  MPI_Aint places[MOST_VALUES];
  MPI_Datatype together;
  for (i = 0; i < count; ++i) {
    lengths[i] = length_of(c, values[i]);
    MPI_Get_address(place_of(c, values[i]), &places[i]);
  }
  status = MPI_Type_create_hindexed(count, lengths, places, c->type, &together);
  if (status != MPI_SUCCESS) return status;
  status = MPI_Type_commit(&together);
  if (status == MPI_SUCCESS)
    status = sends ? MPI_Isend(MPI_BOTTOM, 1, together, peer, 0, comm, request)
                   : MPI_Irecv(MPI_BOTTOM, 1, together, peer, 0, comm, request);
  MPI_Type_free(&together);
  return status;
}

/* Receives, sends and folds of all steps; leaves `at` at the results. */
static int run_steps(const struct call *c, const int **at, MPI_Comm comm) {
  MPI_Request requests[MOST_MESSAGES];
  MPI_Status statuses[MOST_MESSAGES];
  int steps, step, sends, i, status = MPI_SUCCESS;
  const int *p = *at;
  for (steps = *p++, step = 0; step < steps && status == MPI_SUCCESS; ++step) {
    int started = 0;
    for (sends = 0; sends < 2; ++sends) {
      int messages = *p++;
      for (i = 0; i < messages; ++i, p += 2 + p[1]) {
        if (status == MPI_SUCCESS) status = start(c, sends, p[0], p + 2, p[1], comm, &requests[started]);
        if (status == MPI_SUCCESS) ++started;
      }
    }
    if (status == MPI_SUCCESS) status = MPI_Waitall(started, requests, statuses);
    i = *p++;
    for (; i > 0 && status == MPI_SUCCESS; --i, p += 2 + p[1]) status = fold(c, p[0], p + 2, p[1]);
  }
  *at = p;
  return status;
}

/* Of vectors of n items; `in` and `out` begin at its items in_first and out_first. */
static int run(const void *in, long long in_first, void *out, long long out_first, long long n, MPI_Datatype type,
               MPI_Op op, MPI_Comm comm) {
  struct call c;
  int ranks, rank, values, i, status;
  const int *at;
  char *memory;
  MPI_Aint lower, true_lower, true_extent, total = 0;

  MPI_Comm_size(comm, &ranks);
  MPI_Comm_rank(comm, &rank);
  if (ranks != RANKS) return MPI_ERR_COMM;
  c.commutative = 1;
  if (op != MPI_OP_NULL) MPI_Op_commutative(op, &c.commutative);
  if (!c.commutative && !ORDERED) return MPI_ERR_OP;
  MPI_Type_get_extent(type, &lower, &c.extent);
  MPI_Type_get_true_extent(type, &true_lower, &true_extent);
  c.in = (const char *)in;
  c.in_first = in_first;
  c.n = n;
  c.type = type;
  c.op = op;
  at = tables[rank];
  values = *at++;
  c.blocks = at;
  at += values;
  c.offset = (MPI_Aint *)malloc(sizeof(MPI_Aint) * (size_t)(values + 1));
  if (c.offset == NULL) return MPI_ERR_NO_MEM;
  for (i = 0; i <= values; ++i) { /* the last one is the spare's, as long as any block */
    c.offset[i] = total;
    total += (MPI_Aint)(i < values ? length_of(&c, i) : n) * c.extent;
  }
  memory = (char *)malloc((size_t)(total + true_extent + 1));
  if (memory == NULL) {
    free(c.offset);
    return MPI_ERR_NO_MEM;
  }
  c.scratch = memory - true_lower;
  c.spare = c.scratch + c.offset[values];
  status = run_steps(&c, &at, comm);
  for (i = status == MPI_SUCCESS ? *at++ : 0; i > 0 && status == MPI_SUCCESS; --i, ++at)
    status = copy(&c, place_of(&c, *at), (char *)out + (begin_of(block_of(&c, *at), n) - out_first) * c.extent,
                  length_of(&c, *at));
  free(memory);
  free(c.offset);
  return status;
}

)";

struct interface {
  verb what;  ///< and all others whose vector goes in and comes out as this one's does
  std::string_view declared, body;
};

/// As MPI declares them; {} is the name. The root is the schedule's.
constexpr std::array interfaces{
    interface{verb::allreduce, "const void *in, void *out, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm",
              "  return run(in == MPI_IN_PLACE ? out : in, 0, out, 0, n, type, op, comm);\n"},
    interface{verb::reduce, "const void *in, void *out, int n, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm",
              "  if (root != ROOT) return MPI_ERR_ROOT;\n"
              "  return run(in == MPI_IN_PLACE ? out : in, 0, out, 0, n, type, op, comm);\n"},
    interface{
        verb::reduce_scatter, "const void *in, void *out, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm",
        "  int rank;\n  MPI_Comm_rank(comm, &rank);\n"
        "  return run(in == MPI_IN_PLACE ? out : in, 0, out, (long long)n * rank, (long long)n * RANKS, type, op, "
        "comm);\n"},
    interface{verb::allgather,
              "const void *in, int in_n, MPI_Datatype in_type, void *out, int n, MPI_Datatype type, MPI_Comm comm",
              "  int rank;\n  MPI_Comm_rank(comm, &rank);\n"
              "  if (in != MPI_IN_PLACE && (in_n != n || in_type != type)) return MPI_ERR_TYPE;\n"
              "  return run(in == MPI_IN_PLACE ? out : in, in == MPI_IN_PLACE ? 0 : (long long)n * rank, out, 0,\n"
              "             (long long)n * RANKS, type, MPI_OP_NULL, comm);\n"},
    interface{verb::gather,
              "const void *in, int in_n, MPI_Datatype in_type, void *out, int n, MPI_Datatype type, int root, "
              "MPI_Comm comm",
              "  int rank;\n  MPI_Comm_rank(comm, &rank);\n"
              "  if (root != ROOT) return MPI_ERR_ROOT;\n"
              "  if (rank != ROOT) { /* out, n and type are the root's */\n"
              "    n = in_n;\n    type = in_type;\n"
              "  } else if (in == MPI_IN_PLACE) {\n"
              "    return run(out, 0, out, 0, (long long)n * RANKS, type, MPI_OP_NULL, comm);\n"
              "  } else if (in_n != n || in_type != type) {\n    return MPI_ERR_TYPE;\n  }\n"
              "  return run(in, (long long)n * rank, out, 0, (long long)n * RANKS, type, MPI_OP_NULL, comm);\n"},
    interface{verb::scatter,
              "const void *in, int in_n, MPI_Datatype in_type, void *out, int n, MPI_Datatype type, int root, "
              "MPI_Comm comm",
              "  int rank;\n  MPI_Comm_rank(comm, &rank);\n"
              "  if (root != ROOT) return MPI_ERR_ROOT;\n"
              "  if (rank == ROOT && out == MPI_IN_PLACE) /* its piece stays where it is */\n"
              "    return run(in, 0, (void *)in, 0, (long long)in_n * RANKS, in_type, MPI_OP_NULL, comm);\n"
              "  if (rank == ROOT && (in_n != n || in_type != type)) return MPI_ERR_TYPE;\n"
              "  return run(in, 0, out, (long long)n * rank, (long long)n * RANKS, type, MPI_OP_NULL, comm);\n"},
    interface{
        verb::all_to_all,
        "const void *in, int in_n, MPI_Datatype in_type, void *out, int n, MPI_Datatype type, MPI_Comm comm",
        "  /* Block b is the piece for the b-th rank after this one; it came from the b-th before. */\n"
        "  int rank, b, status = MPI_SUCCESS;\n"
        "  MPI_Aint lower, extent, true_lower, true_extent;\n"
        "  char *memory, *given, *taken;\n"
        "  if (in == MPI_IN_PLACE) in = out;\n"
        "  else if (in_n != n || in_type != type) return MPI_ERR_TYPE;\n"
        "  MPI_Comm_rank(comm, &rank);\n"
        "  MPI_Type_get_extent(type, &lower, &extent);\n"
        "  MPI_Type_get_true_extent(type, &true_lower, &true_extent);\n"
        "  extent *= n; /* of a piece */\n"
        "  memory = (char *)malloc((size_t)(2 * RANKS * extent + true_extent + 1));\n"
        "  if (memory == NULL) return MPI_ERR_NO_MEM;\n"
        "  given = memory - true_lower;\n"
        "  taken = given + RANKS * extent;\n"
        "  for (b = 0; b < RANKS && status == MPI_SUCCESS; ++b)\n"
        "    status = MPI_Sendrecv((const char *)in + (rank + b) % RANKS * extent, n, type, 0, 0, given + b * extent, "
        "n, type, 0,\n                          0, MPI_COMM_SELF, MPI_STATUS_IGNORE);\n"
        "  if (status == MPI_SUCCESS)\n"
        "    status = run(given, 0, taken, 0, (long long)n * RANKS, type, MPI_OP_NULL, comm);\n"
        "  for (b = 0; b < RANKS && status == MPI_SUCCESS; ++b)\n"
        "    status = MPI_Sendrecv(taken + b * extent, n, type, 0, 0, (char *)out + (rank + RANKS - b) % RANKS * "
        "extent, n, type, 0,\n                          0, MPI_COMM_SELF, MPI_STATUS_IGNORE);\n"
        "  free(memory);\n"
        "  return status;\n"},
    interface{verb::broadcast, "void *inout, int n, MPI_Datatype type, int root, MPI_Comm comm",
              "  if (root != ROOT) return MPI_ERR_ROOT;\n"
              "  return run(inout, 0, inout, 0, n, type, MPI_OP_NULL, comm);\n"},
    interface{verb::barrier, "MPI_Comm comm",
              "  char nothing = 0;\n  return run(&nothing, 0, &nothing, 0, 0, MPI_CHAR, MPI_OP_NULL, comm);\n"}};

/// A function's parameters say who gives and gets what, and whether by an operation. Of whom a result is made, the schedule
/// knows.
bool are_called_alike(verb a, verb b) {
  auto const terms = [](verb what) {
    auto const& row = detail::row_of(what);
    return std::tuple(row.is_rooted, row.root_gives, row.others_give, row.root_gets, row.others_get, row.in,
                      detail::only_moves(what), detail::swaps_pieces(what));
  };
  return terms(a) == terms(b);
}

/// What one rank does, in the numbers that the loop reads.
class table {
 public:
  table(schedule const& of, std::vector<std::vector<message>> const& messages, rank_t self)
      : schedule_(of), messages_(messages), self_(self) {
    for (std::size_t i = 0; i < of.steps.size(); ++i) add_step(i);
    add_results();
  }

  std::string text() const {
    std::vector<std::int64_t> all{static_cast<std::int64_t>(blocks_.size())};
    all.insert(all.end(), blocks_.begin(), blocks_.end());
    all.push_back(static_cast<std::int64_t>(schedule_.steps.size()));
    all.insert(all.end(), code_.begin(), code_.end());
    std::string lines;
    for (std::size_t i = 0; i < all.size(); ++i)
      text::append(lines, "{}{}", i == 0 ? "" : i % per_line == 0 ? ",\n  " : ", ", all[i]);
    return lines;
  }

  std::size_t most_values() const { return most_values_; }
  std::size_t most_messages() const { return most_messages_; }

 private:
  static constexpr std::size_t per_line = 24;
  using key = std::tuple<rank_t, block_t, slot_t>;

  std::int64_t number_of(rank_t rank, block_t b, slot_t slot) {
    if (rank == self_ && slot == 0) return -1 - std::int64_t{b};
    auto const [at, is_new] = numbers_.emplace(key{rank, b, slot}, static_cast<std::int64_t>(blocks_.size()));
    if (is_new) blocks_.push_back(b);
    return at->second;
  }

  void add_messages(std::vector<message> const& all, bool sends) {
    std::size_t const count_at = code_.size();
    code_.push_back(0);
    for (message const& m : all) {
      if ((sends ? m.from : m.to) != self_) continue;
      ++code_[count_at];
      code_.push_back(sends ? m.to : m.from);
      code_.push_back(static_cast<std::int64_t>(m.pieces.size()));
      for (message_piece const& p : m.pieces) code_.push_back(number_of(m.from, p.block, p.slot));
      most_values_ = std::max(most_values_, m.pieces.size());
    }
    in_step_ += static_cast<std::size_t>(code_[count_at]);
  }

  void add_step(std::size_t step) {
    in_step_ = 0;
    for (bool const sends : {false, true}) add_messages(messages_[step], sends);
    most_messages_ = std::max(most_messages_, in_step_);
    std::size_t const count_at = code_.size();
    code_.push_back(0);
    for (assignment const& a : schedule_.steps[step]) {
      if (a.rank != self_) continue;
      ++code_[count_at];
      code_.push_back(number_of(self_, a.block, a.slot));
      code_.push_back(a.count);
      for (source const& s : schedule_.from(a)) code_.push_back(number_of(s.rank, a.block, s.slot));
    }
  }

  void add_results() {
    std::size_t const count_at = code_.size();
    code_.push_back(0);
    for (block_t b = 0; b < schedule_.blocks.size(); ++b) {
      slot_t const slot = schedule_.result[self_][b];
      if (slot == no_slot) continue;
      ++code_[count_at];
      code_.push_back(number_of(self_, b, slot));
    }
  }

  schedule const& schedule_;
  std::vector<std::vector<message>> const& messages_;
  rank_t self_;
  std::map<key, std::int64_t> numbers_;
  std::vector<std::int64_t> blocks_, code_;
  std::size_t in_step_ = 0, most_values_ = 1, most_messages_ = 1;
};

/// Words of C, and what the text or its headers have of their own.
bool is_taken(std::string const& name) {
  static constexpr std::string_view words =
      " auto break case char const continue default do double else enum extern float for goto if inline int long "
      "register restrict return short signed sizeof static struct switch typedef union unsigned void volatile while "
      "begin_of begins block_of call copy fold length_of place_of run run_steps start tables main "
      "RANKS ORDERED PARTS MOST_VALUES MOST_MESSAGES ROOT NULL "
      "abort abs atof atoi atol calloc div exit free getenv labs malloc qsort rand realloc srand system ";
  return words.find(" " + name + " ") != std::string_view::npos || name.starts_with("MPI_") ||
         name.starts_with("table_");
}

std::string name_for(schedule const& of, std::string const& wanted) {
  std::string name = wanted.empty() ? of.algorithm + "_" + std::string(name_of(of.verb)) : wanted;
  auto const fits = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  bool const is_name = std::ranges::all_of(name, fits) && std::isdigit(static_cast<unsigned char>(name[0])) == 0;
  if (is_name && !is_taken(name)) return name;
  if (is_name && !wanted.empty())
    throw schedule_error(wanted + " is a word of C or of the text, no name of a function in it");
  if (!wanted.empty()) throw schedule_error(wanted + " is no name of a C function");
  std::ranges::replace_if(
      name, [&](char c) { return !fits(c); }, '_');
  return "plan_" + name;
}

}  // namespace

std::string mpi_routine(schedule const& of, std::string name) {
  auto const* const found =
      std::ranges::find_if(interfaces, [&](interface const& i) { return are_called_alike(i.what, of.verb); });
  if (found == interfaces.end())
    throw schedule_error(text::format("{} has no function in MPI that could be generated", name_of(of.verb)));
  name = name_for(of, name);
  cuts const begins(of, 0);  // refuses what is cut too finely
  units const parts(of);
  auto const messages = messages_of(of);
  std::size_t most_values = 1, most_messages = 1;
  std::string tables, list;
  for (rank_t r = 0; r < of.ranks; ++r) {
    table const own(of, messages, r);
    text::append(tables, "static const int table_{}[] = {{{}}};\n", r, own.text());
    text::append(list, "{}table_{}", r == 0 ? "" : r % 8 == 0 ? ",\n  " : ", ", r);
    most_values = std::max(most_values, own.most_values());
    most_messages = std::max(most_messages, own.most_messages());
  }
  std::vector<std::int64_t> ends{0};
  for (std::int64_t const size : parts.size) ends.push_back(ends.back() + size);
  std::string all = text::format(
      "/* {}. Generated by coset; link with MPI. Messages have tag 0: give it a communicator that\n"
      "   nothing else uses meanwhile. */\n#include <mpi.h>\n#include <stdlib.h>\n\n"
      "#define RANKS {}\n#define ORDERED {} /* keeps the order of the ranks */\n#define MOST_VALUES {}\n"
      "#define MOST_MESSAGES {}\n#define PARTS {}LL\n",
      title_of(of), of.ranks, validate(of).ordered ? 1 : 0, most_values, most_messages, parts.denominator);
  if (of.root) text::append(all, "#define ROOT {}\n", *of.root);
  text::append(all,
               "\n/* Where blocks begin, in parts of the vector. */\nstatic const long long begins[] = {{{}}};\n\n",
               text::joined(ends, ", "));
  text::append(
      all,
      "/* Of each rank: values made or received, and their blocks; steps; in each of them messages received, and\n"
      "   sent, as peer, number of values, values; folds as target, number of sources, sources; at the end the\n"
      "   results. */\n{}static const int *const tables[] = {{{}}};\n{}",
      tables, list, loop);
  text::append(all, "int {}({}) {{\n{}}}\n", name, found->declared, found->body);
  return all;
}

}  // namespace coset::schedule
