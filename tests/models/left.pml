/* SPDX-License-Identifier: Apache-2.0
 * A rank that has left for good is not waited for; but what it signalled before counts, even if it was not seen yet.
 *
 * Stands for src/runtime/await.cpp: ask_for(); and the release store when a body ends. The leaver makes any number
 * of signals up to EPOCHS, then leaves; whoever waits for more must find out, whoever waits for less must not be
 * misled.
 *
 * Mutants: NO_SECOND_LOOK, LEFT_FIRST.
 */
#define RANKS_WAITING (RANKS - 1)
#define CELLS 2
#define DEPTH 2
#include "tso.pml"

#define signalled memory[0]
#define left memory[1]
byte will_signal;

proctype leaver(byte self) {
  byte k;
#ifdef LEFT_FIRST
  store(1, 1);
#endif
  for (k : 1 .. will_signal) { store(0, k) }
#ifndef LEFT_FIRST
  store(1, 1)
#endif
}

proctype waiter() {
  byte wanted;
  bool told = false;
  select(wanted : 1 .. EPOCHS);
  do
  :: signalled >= wanted -> break
  :: signalled < wanted ->
    if
#ifdef NO_SECOND_LOOK
    :: left == 1 -> told = true; break
#else
    :: left == 1 ->
      if
      :: signalled >= wanted -> break
      :: else -> told = true; break
      fi
#endif
    :: left == 0
    fi
  od;
  assert(told == (will_signal < wanted))
}

init {
  byte i, n;
  select(n : 0 .. EPOCHS);
  will_signal = n;
  atomic {
    run flush(0);
    run leaver(0);
    for (i : 1 .. RANKS_WAITING) { run waiter() }
  }
}
