import { readlinkSync } from 'node:fs';
import { getPriority, setPriority } from 'node:os';
import { basename } from 'node:path';

const STEPS = 5;
const LOWEST = 19;

/**
 * Lets the other threads of this process go first where the processor is busy: for a thread whose work can wait a little longer than the
 * event loop. Linux alone gives a thread a priority of its own; elsewhere, and in a sandbox that refuses it, the thread keeps what it has.
 */
export function giveWay(): void {
  try {
    const thread = Number(basename(readlinkSync('/proc/thread-self')));
    setPriority(thread, Math.min(LOWEST, getPriority(thread) + STEPS));
  } catch {
    // The work is done all the same, only sooner.
  }
}
