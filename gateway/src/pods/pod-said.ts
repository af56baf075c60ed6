import { AgentRunResult, AgentRunSpent, holdsMore, MAX_FRAME_BYTES } from '@signalbox/crds';
import { z } from 'zod';
import { MAX_VALUES } from '../models/bound-values.ts';

type Said = Record<string, unknown>;

/** Without fields of the pod's own: a loose object would copy each of them. */
export const PodResult = z.object(AgentRunResult.shape);
export const PodSpent = z.object(AgentRunSpent.shape);

/** The gateway knows the version of its agent itself. */
const FIELDS = Object.keys(AgentRunResult.shape).filter((field) => field !== 'agent_version');

/** What is known of what a pod says of a run; it may say as much beside as a frame holds. No honest trace is as large as one that is left out. */
export function podSaid(said: unknown): Said {
  const all = typeof said === 'object' && said !== null ? (said as Said) : {};
  const known = Object.fromEntries(
    FIELDS.filter((field) => Object.hasOwn(all, field)).map((field) => [field, all[field]]),
  );
  return holdsMore(known['trace'], MAX_VALUES) ? { ...known, trace: [], trace_cut: true } : known;
}

/** Whether it fits no message of `/rpc`, also without its trace. */
export function fitsNoFrame({ trace: _, ...said }: Said): boolean {
  return holdsMore(said, MAX_VALUES) || Buffer.byteLength(JSON.stringify(said)) > MAX_FRAME_BYTES;
}
