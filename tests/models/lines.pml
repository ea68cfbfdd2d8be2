/* SPDX-License-Identifier: Apache-2.0
 * Entry lines, progress lines and the reuse of parities: every sequence of EPOCHS operations, each full or rooted.
 *
 * Stands for src/runtime/executor.cpp and repeated/resolved.cpp: enter() with await_reuse(), await_entry(), await() on progress, signal(). A cell
 * holds the epoch that wrote it, so that "the right payload" is "that of my epoch".
 *
 * Mutants: PARITIES=1, NO_REUSE_WAIT, TAG_FIRST, TELLS_FIRST.
 */
#ifndef PARITIES
#define PARITIES 2
#endif
#define LINES (RANKS * PARITIES)
#define CELLS (3 * LINES + RANKS)
#define DEPTH 3
#include "tso.pml"

#define line(rank, epoch) (rank * PARITIES + (epoch) % PARITIES)
#define tag(rank, epoch) line(rank, epoch)
#define payload(rank, epoch) (LINES + line(rank, epoch))
#define staging(rank, epoch) (2 * LINES + line(rank, epoch))
#define progress(rank) (3 * LINES + rank)

/* What the ranks agree to do: an allreduce in two rounds (entries, then partial results), one in a single round, or a
 * broadcast from a root, whose readers wait for nobody else. Only the last is not full. */
#define two_rounds RANKS
#define one_round (RANKS + 1)
byte kind[EPOCHS + 1]; /* below RANKS: a broadcast from that rank */
#define full(epoch) (kind[epoch] >= RANKS)

inline await_entries(into) {
  q = 0;
  do
  :: q == RANKS -> break
  :: q < RANKS && q != self -> memory[tag(q, into)] >= into; q++
  :: q == self -> q++
  od
}

/* Readers of a broadcast tell their entry when they have read; of a full operation, before. */
inline await_reuse() {
  if
  :: epoch > 2 && !full(epoch - 1) && full(epoch - 2) -> await_entries(epoch - 1)
  :: epoch > 2 && !full(epoch - 1) && kind[epoch - 2] == self -> await_entries(epoch - 2)
  :: else
  fi
}

inline begin() {
#ifndef NO_REUSE_WAIT
  await_reuse()
#else
  skip
#endif
}

inline tell_entry() {
#ifdef TAG_FIRST
  store(tag(self, epoch), epoch);
  store(payload(self, epoch), epoch)
#else
  store(payload(self, epoch), epoch);
  store(tag(self, epoch), epoch)
#endif
}

/* Tags are compared by equality; a peer that is elsewhere is waited for. */
inline read_entry(rank) {
  memory[tag(rank, epoch)] == epoch;
  assert(memory[payload(rank, epoch)] == epoch)
}

inline read_all_entries() {
  q = 0;
  do
  :: q == RANKS -> break
  :: q < RANKS && q != self -> read_entry(q); q++
  :: q == self -> q++
  od
}

/* Progress counts signals: a full span per operation, whatever it does, so that it is an epoch here. */
inline share_partial_results() {
  store(staging(self, epoch), epoch);
  store(progress(self), epoch);
  q = 0;
  do
  :: q == RANKS -> break
  :: q < RANKS && q != self ->
    memory[progress(q)] >= epoch;
    assert(memory[staging(q, epoch)] == epoch);
    q++
  :: q == self -> q++
  od
}

proctype rank(byte self) {
  byte epoch = 1, q;
  do
  :: epoch > EPOCHS -> break
  :: else ->
    begin();
    if
    :: kind[epoch] == two_rounds -> tell_entry(); read_all_entries(); share_partial_results()
    :: kind[epoch] == one_round -> tell_entry(); read_all_entries()
#ifdef TELLS_FIRST
    :: kind[epoch] < RANKS && kind[epoch] != self -> tell_entry(); read_entry(kind[epoch])
#else
    :: kind[epoch] < RANKS && kind[epoch] != self -> read_entry(kind[epoch]); tell_entry()
#endif
    :: kind[epoch] == self -> tell_entry()
    fi;
    epoch++
  od
}

init {
  byte i_kind;
  byte i;
  for (i : 1 .. EPOCHS) { select(i_kind : 0 .. one_round); kind[i] = i_kind }
  atomic { for (i : 0 .. RANKS - 1) { run flush(i); run rank(i) } }
}
