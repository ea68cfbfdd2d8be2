/* SPDX-License-Identifier: Apache-2.0
 * Ranks that all wait, each for another: the team fails only if none of them can ever go on.
 *
 * Stands for src/runtime/failure/standstill.cpp. Each rank makes up to EPOCHS signals and up to EPOCHS waits, in any order
 * and for any number of signals of any other rank; then it leaves. A store to `standing`, a count of `moves` and a new `question`
 * are locked instructions; signals and `left` go through the buffer. QUESTIONS bounds how often they ask.
 *
 * Mutants: ONE_ROUND, ONE_LOOK, COUNT_FIRST, NO_LOOK, ANYBODY_ASKS.
 */
#define CELLS (2 * RANKS)
#define DEPTH 2
#include "tso.pml"

#define QUESTIONS 4
#define signalled(rank) memory[rank]
#define left(rank) memory[RANKS + rank]

byte question = 1;
byte standing[RANKS], moves[RANKS];

/* What the ranks wait for, for the assertion alone. */
bool waits[RANKS];
byte awaited[RANKS], wanted[RANKS];

inline nobody_can_move() {
  d_step {
    for (k : 0 .. RANKS - 1) {
      assert(empty(buffer[k]));
      assert(left(k) == 1 || (waits[k] && signalled(awaited[k]) < wanted[k]))
    }
    k = 0
  }
}

/* moves_if_all_stand(since): a load at a time. */
inline look_at_all(since) {
  all = true; sum = 0; k = 0;
  do
  :: k < RANKS && all ->
    gone = left(k);
    before = moves[k];
    all = (gone == 1 || standing[k] >= since);
#ifndef ONE_LOOK
    all = (all && moves[k] == before);
#endif
    sum = sum + before;
    k++
  :: else -> break
  od;
  k = 0
}

proctype rank(byte self) {
  byte made, done, seen, now, raised, then, sum, before, k, gone;
  bool all;
  do
  :: made < EPOCHS -> made++; store(self, made)
  :: done < EPOCHS ->
    atomic {
      done++;
      select(k : 1 .. RANKS - 1);
      awaited[self] = (self + k) % RANKS;
      select(k : 1 .. EPOCHS);
      wanted[self] = k;
      k = 0;
      waits[self] = true
    }
    do
    :: atomic { signalled(awaited[self]) >= wanted[self] -> waits[self] = false; break }
    :: signalled(awaited[self]) < wanted[self] ->
      now = question;
      if
#ifndef NO_LOOK
      :: seen != now -> seen = now
      :: else ->
#else
      :: true ->
        seen = now;
#endif
        atomic { drained -> standing[self] = now };
        if
        :: raised != 0 ->
          look_at_all(raised + 1);
          if
          :: all && sum == then -> nobody_can_move(); goto over
          :: all && sum != then -> raised = 0
          :: else
          fi
        :: else
        fi;
        if
        :: raised == 0 && now < QUESTIONS ->
          look_at_all(now);
          if
          :: all ->
#ifdef ONE_ROUND
            nobody_can_move(); goto over;
#endif
            atomic {
              drained;
              if
              :: question == now -> question = now + 1; raised = now; then = sum
#ifdef ANYBODY_ASKS
              :: question != now -> raised = now; then = sum
#else
              :: else
#endif
              fi
            }
          :: else
          fi
        :: else
        fi
      fi
    od;
    if
    :: seen != 0 ->
      seen = 0; raised = 0;
      if
      :: standing[self] != 0 ->
#ifdef COUNT_FIRST
        atomic { drained -> moves[self] = moves[self] + 1 };
        atomic { drained -> standing[self] = 0 }
#else
        atomic { drained -> standing[self] = 0 };
        atomic { drained -> moves[self] = moves[self] + 1 }
#endif
      :: else
      fi
    :: else
    fi
  :: made == EPOCHS || done == EPOCHS -> break
  od;
  store(RANKS + self, 1);
over:
}

init {
  byte i;
  atomic {
    for (i : 0 .. RANKS - 1) {
      run flush(i);
      run rank(i)
    }
  }
}
