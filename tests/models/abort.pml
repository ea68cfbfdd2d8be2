/* SPDX-License-Identifier: Apache-2.0
 * Leaving by an exception while peers fold out of the leaver's arrays: nobody touches memory that is freed already.
 *
 * Stands for src/runtime: executor.cpp's fold_foreign(), memory/busy_mark.hpp, failure/failure.cpp's record(),
 * memory/shared_memory.cpp's quiesce().
 * Any rank may fail at any of its EPOCHS folds. Who leaves frees its arrays at once.
 *
 * Mutants: PLAIN_BUSY, PLAIN_ABORT (stores instead of locked instructions), NO_QUIESCE.
 */
#define CELLS (RANKS + 1)
#define DEPTH 2
#include "tso.pml"

#define busy(rank) memory[rank]
#define busy_cell(rank) rank
#define aborted memory[RANKS]
bool freed[RANKS];

inline mark_busy() {
#ifdef PLAIN_BUSY
  store(busy_cell(self), 1)
#else
  atomic { drained; busy(self) = 1 }
#endif
}

inline record_failure() {
#ifdef PLAIN_ABORT
  store(RANKS, 1)
#else
  atomic { drained; aborted = 1 }
#endif
}

inline quiesce() {
  q = 0;
  do
  :: q == RANKS -> break
  :: q < RANKS && q != self -> busy(q) == 0; q++
  :: q == self -> q++
  od
}

/* A fold reads for a while: the array is there when it begins and when it ends. */
inline fold_foreign(peer) {
  mark_busy();
  if
  :: aborted == 0 -> assert(!freed[peer]); assert(!freed[peer])
  :: else
  fi;
  store(busy_cell(self), 0)
}

proctype rank(byte self) {
  byte folds = 0, q;
  do
  :: folds == EPOCHS -> break
  :: folds < EPOCHS ->
    if
    :: skip
    :: record_failure(); goto leave /* a user's operation throws, a deadline passes */
    fi;
    fold_foreign((self + 1) % RANKS);
    folds++;
    if
    :: aborted != 0 -> break
    :: aborted == 0
    fi
  od;
  /* who has done all its folds may still be told to leave by its next call */
  aborted != 0;
leave:
#ifndef NO_QUIESCE
  quiesce();
#endif
  freed[self] = true
}

/* Somebody outside may abort too, so that everybody gets to leave. */
proctype outsider() {
  atomic { aborted = 1 }
}

init {
  byte i;
  atomic {
    for (i : 0 .. RANKS - 1) { run flush(i); run rank(i) }
    run outsider()
  }
}
