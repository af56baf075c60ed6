import type { Lane } from '../state/lane.ts';
import type { LoadedPipeline } from '../../definitions/snapshot.ts';
import type { ActiveRun } from '../state/active-run.ts';
import { stopReason } from '../state/stopped.ts';
import type { TriggerContext } from '../state/model.ts';
import type { Texts } from '../prompt/texts.ts';

export interface Lanes {
  tryTake(lane: Lane, runId: string): boolean;
  /** Takes a place in the order of the calls; false when the signal aborts first. */
  take(lane: Lane, runId: string, signal: AbortSignal): Promise<boolean>;
  /** Gives the place back, if the run has one. */
  leave(lane: Lane, runId: string): void;
  /** The run that has been in the lane the longest. */
  oldest(lane: Lane): string | undefined;
  /** Whether a run would have to wait, or go. */
  full(lane: Lane): boolean;
  /** Runs that wait, in all lanes together. */
  waiting(): number;
}

interface Waiter {
  runId: string;
  enter(): void;
}

interface Occupied {
  inside: Set<string>;
  waiting: Waiter[];
}

export function createLanes(): Lanes {
  const lanes = new Map<string, Occupied>();
  let waitingRuns = 0;
  const occupied = ({ key }: Lane): Occupied => {
    const known = lanes.get(key) ?? { inside: new Set(), waiting: [] };
    lanes.set(key, known);
    return known;
  };
  const tidy = ({ key }: Lane, { inside, waiting }: Occupied) => {
    if (inside.size === 0 && waiting.length === 0) lanes.delete(key);
  };
  const tryTake: Lanes['tryTake'] = (lane, runId) => {
    const { inside, waiting } = occupied(lane);
    if (inside.size >= lane.limit || waiting.length > 0) return inside.has(runId);
    inside.add(runId);
    return true;
  };
  return {
    tryTake,
    take: (lane, runId, signal) => {
      if (tryTake(lane, runId)) return Promise.resolve(true);
      return new Promise((resolve) => {
        const here = occupied(lane);
        const leave = () => {
          here.waiting.splice(here.waiting.indexOf(waiter), 1);
          waitingRuns -= 1;
          resolve(false);
        };
        const waiter: Waiter = {
          runId,
          enter: () => {
            signal.removeEventListener('abort', leave);
            waitingRuns -= 1;
            here.inside.add(runId);
            resolve(true);
          },
        };
        here.waiting.push(waiter);
        waitingRuns += 1;
        if (signal.aborted) leave();
        else signal.addEventListener('abort', leave, { once: true });
      });
    },
    leave: (lane, runId) => {
      const here = occupied(lane);
      if (here.inside.delete(runId)) here.waiting.shift()?.enter();
      tidy(lane, here);
    },
    oldest: (lane) => lanes.get(lane.key)?.inside.values().next().value,
    full: ({ key, limit }) => {
      const here = lanes.get(key);
      return here !== undefined && (here.inside.size >= limit || here.waiting.length > 0);
    },
    waiting: () => waitingRuns,
  };
}

interface Queueing {
  pipeline: LoadedPipeline['config'];
  context: TriggerContext;
  team: string | null;
}

/** The lane of a run, or null where its pipeline has no limit. The key is a template over what came in, so it is the same after a restart. */
export function laneOf(texts: Texts, { pipeline, context, team }: Queueing): Lane | null {
  const { concurrency } = pipeline;
  if (!concurrency) return null;
  const { limit, key, on_limit: onLimit } = concurrency;
  const compiled = key === undefined ? null : texts.template(key);
  const { labels, annotations, metadata, severity, summary, source } = context;
  const values = {
    ...metadata,
    labels,
    annotations,
    metadata,
    severity,
    summary,
    source,
    team,
    vars: pipeline.vars,
    pipeline_name: pipeline.name,
  };
  const rendered = compiled?.ok ? compiled.template.render(values) : null;
  return { key: `${pipeline.name}\n${rendered?.ok ? rendered.text : ''}`, limit, onLimit };
}

export interface Joining {
  lanes: Lanes;
  cancel(runId: string, by: string): unknown;
}

/** Waits for a place, cancelling the oldest run in it where the lane says so; throws the reason when the run stops first. */
export async function joinLane({ lanes, cancel }: Joining, lane: Lane, run: ActiveRun): Promise<void> {
  const { signal } = run.controller;
  const entering = lanes.take(lane, run.id, signal);
  const oldest = lane.onLimit === 'cancel_running' ? lanes.oldest(lane) : undefined;
  if (oldest !== undefined && oldest !== run.id) void cancel(oldest, `run ${run.id} of the same key`);
  if (!(await entering)) throw stopReason(signal) ?? new Error('stopped');
}
