/* SPDX-License-Identifier: Apache-2.0
 * Sleeping without a lost wake-up: ranks that signal and wait for each other EPOCHS times, asleep whenever they may be.
 *
 * Stands for src/runtime/memory/waiting.{hpp,cpp}: signal() and sleep(). The cap on sleeps, which would hide a lost
 * wake-up after a millisecond, is left out: a rank that nobody wakes sleeps for ever, which is an invalid end state.
 *
 * EXCHANGED: signals are exchanges and nobody calls membarrier, as between processes. Mutants: NO_MEMBARRIER, NO_RECHECK.
 */
#define CELLS RANKS
#define DEPTH 2
#include "tso.pml"

byte sleepers[RANKS]; /* changed by locked instructions only */
bool asleep[RANKS * RANKS]; /* [who · RANKS + on whose word] */

#define word(rank) rank

/* A system call: the kernel's locks drain the buffer, waking is one step. */
inline wake() {
  atomic {
    drained;
    for (q : 0 .. RANKS - 1) { asleep[q * RANKS + self] = false }
  }
}

inline signal(value) {
#ifdef EXCHANGED
  atomic { drained; memory[word(self)] = value };
#else
  store(word(self), value);
#endif
  if
  :: sleepers[self] != 0 -> wake()
  :: else
  fi
}

/* At some moment of the call every other rank passes a full barrier: its buffer is empty. */
inline membarrier() {
  q = 0;
  do
  :: q == RANKS -> break
  :: q < RANKS -> empty(buffer[q]); q++
  od
}

inline sleep_on(other) {
  atomic { drained; sleepers[other]++ };
#if !defined(NO_MEMBARRIER) && !defined(EXCHANGED)
  membarrier();
#endif
#ifdef NO_RECHECK
  atomic { asleep[self * RANKS + other] = true };
  !asleep[self * RANKS + other];
#else
  /* futex: the kernel compares and queues in one step */
  atomic {
    if
    :: memory[word(other)] < epoch -> asleep[self * RANKS + other] = true
    :: else
    fi
  };
  !asleep[self * RANKS + other];
#endif
  atomic { drained; sleepers[other]-- }
}

inline await(other) {
  do
  :: memory[word(other)] >= epoch -> break
  :: memory[word(other)] < epoch -> sleep_on(other)
  od
}

proctype rank(byte self) {
  byte epoch = 1, other, q;
  do
  :: epoch > EPOCHS -> break
  :: else ->
    signal(epoch);
    other = 0;
    do
    :: other == RANKS -> break
    :: other < RANKS && other != self -> await(other); other++
    :: other == self -> other++
    od;
    epoch++
  od
}

init {
  byte i;
  atomic { for (i : 0 .. RANKS - 1) { run flush(i); run rank(i) } }
}
