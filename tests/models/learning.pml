/* SPDX-License-Identifier: Apache-2.0
 * Ranks that agree on the next call's candidate by what all of them tell in their entries into this one: over every
 * sequence of EPOCHS operations, in any number of runs, one of which may fail.
 *
 * Stands for src/runtime/learning.cpp; executor.cpp: enter(), await_reuse(), await_entry(), signal(); and
 * team_state::begin_generation() between runs. A payload is what a rank's last call took, and the epoch that it is for.
 * A learner is the list of all that it was told, and names the candidate as it is: no two histories count as one.
 *
 * Mutants: NO_REUSE_WAIT, TAG_FIRST, NO_MEETING, NO_FORGETTING, FORGETS_ALONE.
 */
#define LINES (RANKS * 2)
#define CELLS (2 * LINES)
#define DEPTH 2
#include "tso.pml"

#define line(rank, n) (rank * 2 + (n) % 2)
#define tag(rank, n) line(rank, n)
#define payload(rank, n) (LINES + line(rank, n))
#define told(n, time) (2 * (n) + time)
#define epoch_of(told) (told / 2)
#define time_of(told) (told % 2)

/* What the ranks agree to do, chosen once the first of them gets there. In `rooted` operations rank 0 waits for nobody,
 * and the others wait for it alone; in the others everybody waits for all entries. */
mtype = { learning, meeting, rooted };
mtype kind[EPOCHS + 1];
bool ends_run[EPOCHS + 1];
byte taken[EPOCHS + 1]; /* the candidate of whoever entered first, for the assertion alone */

byte epoch[RANKS], arrived, failures;
bool failed, turn;

inline choose() {
  atomic {
    if
    :: kind[next] == 0 ->
      if
      :: kind[next] = learning
      :: kind[next] = meeting
      :: kind[next] = rooted
      fi;
      if
      :: ends_run[next] = true
      :: skip
      fi
    :: else
    fi
  }
}

/* Any rank may fail, anywhere. Others hear of it where they wait, or earlier. */
#define ends_early (failed || failures == 0)
#ifdef FORGETS_ALONE
#define leave_early failed = true; learner = 1; goto leave
#else
#define leave_early failed = true; goto leave
#endif

inline leave_at_will() {
  if
  :: true
  :: atomic { ends_early -> leave_early }
  fi
}

inline await(rank, condition) {
  if
  :: rank == self
  :: rank != self && condition
  :: atomic { rank != self && ends_early -> leave_early }
  fi
}

inline await_all(condition) {
  do
  :: q < RANKS -> await(q, condition); q++
  :: q == RANKS -> q = 0; break
  od
}

/* Readers of a rooted operation tell their entry when they have read, of others before. */
inline await_reuse() {
  if
  :: !peers_entered && has_readers[next % 2] && !are_told[next % 2] -> await_all(memory[tag(q, next - 1)] >= next - 1)
  :: !peers_entered && has_readers[next % 2] && are_told[next % 2] -> await_all(memory[tag(q, next - 2)] >= next - 2)
  :: else
  fi
}

/* Where a run has failed, some ranks may have been told what others have not. */
inline recall() {
  if
  :: kind[next] == learning && known_failures != failures -> learner = 1; known_failures = failures
  :: else
  fi
}

inline enter() {
#ifndef NO_REUSE_WAIT
  await_reuse();
#endif
  atomic {
    epoch[self] = next;
    peers_entered = (kind[next] != rooted);
    has_readers[next % 2] = (kind[next] != rooted || self == 0);
    are_told[next % 2] = (kind[next] == rooted);
    if
    :: kind[next] == learning ->
      assert(taken[next] == 0 || taken[next] == learner);
      taken[next] = learner;
      if
      :: took = 0
      :: took = 1
      fi
    :: else
    fi
  }
}

inline tell_entry() {
#ifdef TAG_FIRST
  store(tag(self, next), next);
  store(payload(self, next), told(next, took))
#else
  store(payload(self, next), told(next, took));
  leave_at_will();
  store(tag(self, next), next)
#endif
}

inline await_entry(rank) { await(rank, memory[tag(rank, next)] == next) }

inline await_entries() {
  if
#ifdef NO_MEETING
  :: kind[next] != meeting -> await_entry(0)
#else
  :: kind[next] == rooted -> await_entry(0)
#endif
  :: else -> await_all(memory[tag(q, next)] == next)
  fi
}

/* A load at a time. The own payload is known: it may still be in the buffer. */
inline learn() {
  do
  :: q < RANKS && q != self ->
    d_step {
      assert(epoch_of(memory[payload(q, next)]) == next);
      if
      :: time_of(memory[payload(q, next)]) < took -> took = time_of(memory[payload(q, next)])
      :: else
      fi;
      q++
    }
  :: q == self -> q++
  :: q == RANKS -> break
  od;
  atomic { q = 0; learner = 2 * learner + took }
}

/* The threads of a run have ended, and none of the next one has begun. */
inline begin_generation() {
  for (q : 1 .. RANKS - 1) { epoch[0] = (epoch[q] > epoch[0] -> epoch[q] : epoch[0]) }
  for (q : 1 .. RANKS - 1) { epoch[q] = epoch[0] }
  failures = failures + failed;
  failed = false;
  arrived = 0;
  turn = !turn
}

inline meet() {
  atomic {
    drained -> arrived++;
    q = 0; took = 0; next = 0;
    peers_entered = true; has_readers[0] = false; has_readers[1] = false;
    mine = !mine;
    if
    :: arrived == RANKS -> begin_generation(); q = 0
    :: else
    fi
  };
  turn == mine
}

proctype rank(byte self) {
  byte next, q, took, learner = 1, known_failures;
  bool peers_entered = true, has_readers[2], are_told[2], mine;
  do
  :: epoch[self] == EPOCHS -> break
  :: epoch[self] < EPOCHS ->
    do
    :: next = epoch[self] + 1;
      choose();
#if !defined(NO_FORGETTING) && !defined(FORGETS_ALONE)
      recall();
#endif
      leave_at_will();
      enter();
      if
      :: kind[next] == rooted && self != 0 -> await_entries(); tell_entry()
      :: else -> tell_entry(); await_entries()
      fi;
      if
      :: kind[next] == learning -> learn()
      :: else
      fi;
      took = 0;
      if
      :: ends_run[next] || next == EPOCHS -> break
      :: else
      fi
    od;
leave:
    meet()
  od
}

init {
  byte i;
  atomic { for (i : 0 .. RANKS - 1) { run flush(i); run rank(i) } }
}
