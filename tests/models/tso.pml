/* SPDX-License-Identifier: Apache-2.0
 * x86-TSO: a store goes to the end of its rank's buffer and reaches memory later, in order; a load reads memory. No rank
 * loads what it stores itself but by a locked instruction, so that loads need not look into the own buffer.
 * Needs RANKS, CELLS and DEPTH (a buffer that is full stops its rank, as in the machine).
 */
byte memory[CELLS];
chan buffer[RANKS] = [DEPTH] of { byte, byte };

#define store(cell, value) buffer[self] ! cell, value

/* A locked instruction acts on memory once the own stores are there. Its effect follows, in the same atomic step. */
#define drained empty(buffer[self])

proctype flush(byte self) {
  byte cell, value;
end:
  do
  :: d_step { buffer[self] ? cell, value; memory[cell] = value }
  od
}
