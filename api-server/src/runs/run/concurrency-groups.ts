import { createHash } from 'node:crypto';
import { limitedNamespace } from '@signalbox/crds';
import type { ConcurrencyGroup } from '../state/concurrency-group.ts';
import type { LoadedPipeline } from '../../definitions/snapshot.ts';
import type { ActiveRun } from '../state/active-run.ts';
import { stopReason } from '../state/stopped.ts';
import type { TriggerContext } from '../state/model.ts';
import { namesIn } from '../prompt/run-values.ts';
import type { Templates } from '../prompt/templates.ts';

export interface ConcurrencyGroups {
  tryTake(concurrencyGroup: ConcurrencyGroup, runId: string): boolean;
  /** Takes a place in the order of the calls; false when the signal aborts first. A sub-run is no run that waits to begin. */
  take(concurrencyGroup: ConcurrencyGroup, runId: string, signal: AbortSignal, isSubRun?: boolean): Promise<boolean>;
  /** Gives the place back, if the run has one. */
  leave(concurrencyGroup: ConcurrencyGroup, runId: string): void;
  /** The run that has been in the concurrency group the longest. */
  oldest(concurrencyGroup: ConcurrencyGroup): string | undefined;
  /** Whether a run would have to wait, or go. */
  full(concurrencyGroup: ConcurrencyGroup): boolean;
  /** Runs that wait, in all concurrency groups together, without sub-runs. */
  waiting(): number;
}

interface Waiter {
  runId: string;
  /** As its definition says, which may have changed since others entered. */
  limit: number;
  enter(): void;
}

interface Occupied {
  inside: Set<string>;
  waiting: Waiter[];
}

export function createConcurrencyGroups(): ConcurrencyGroups {
  const concurrencyGroups = new Map<string, Occupied>();
  let waitingRuns = 0;
  const occupied = ({ key }: ConcurrencyGroup): Occupied => {
    const known = concurrencyGroups.get(key) ?? { inside: new Set(), waiting: [] };
    concurrencyGroups.set(key, known);
    return known;
  };
  const tidy = ({ key }: ConcurrencyGroup, { inside, waiting }: Occupied) => {
    if (inside.size === 0 && waiting.length === 0) concurrencyGroups.delete(key);
  };
  const tryTake: ConcurrencyGroups['tryTake'] = (concurrencyGroup, runId) => {
    const { inside, waiting } = occupied(concurrencyGroup);
    if (inside.size >= concurrencyGroup.limit || waiting.length > 0) return inside.has(runId);
    inside.add(runId);
    return true;
  };
  return {
    tryTake,
    take: (concurrencyGroup, runId, signal, isSubRun = false) => {
      if (tryTake(concurrencyGroup, runId)) return Promise.resolve(true);
      const counted = isSubRun ? 0 : 1;
      return new Promise((resolve) => {
        const here = occupied(concurrencyGroup);
        const leave = () => {
          here.waiting.splice(here.waiting.indexOf(waiter), 1);
          waitingRuns -= counted;
          resolve(false);
        };
        const waiter: Waiter = {
          runId,
          limit: concurrencyGroup.limit,
          enter: () => {
            here.waiting.shift();
            signal.removeEventListener('abort', leave);
            waitingRuns -= counted;
            here.inside.add(runId);
            resolve(true);
          },
        };
        here.waiting.push(waiter);
        waitingRuns += counted;
        if (signal.aborted) leave();
        else signal.addEventListener('abort', leave, { once: true });
      });
    },
    leave: (concurrencyGroup, runId) => {
      const here = occupied(concurrencyGroup);
      here.inside.delete(runId);
      while (here.inside.size < (here.waiting[0]?.limit ?? 0)) here.waiting[0]?.enter();
      tidy(concurrencyGroup, here);
    },
    oldest: (concurrencyGroup) => concurrencyGroups.get(concurrencyGroup.key)?.inside.values().next().value,
    full: ({ key, limit }) => {
      const here = concurrencyGroups.get(key);
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

/** The concurrency group of a run, or null where its pipeline has no limit. The key is a template over what came in, so it is the same after a restart. */
export function concurrencyGroupOf(
  templates: Templates,
  { pipeline, context, team }: Queueing,
): ConcurrencyGroup | null {
  const { concurrency } = pipeline;
  if (!concurrency) return null;
  const { limit, on_limit: onLimit } = concurrency;
  const { labels, annotations, metadata, severity, summary, source } = context;
  const values = {
    ...namesIn(metadata),
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
  const rendered = templates.renderKey(concurrency, values, KEY_VISITS);
  return { key: `${pipeline.name}\n${rendered.ok ? shortKey(rendered.text) : ''}`, limit, onLimit };
}

/** Before a transaction that makes the keys of many pipelines. */
export async function compileKeyOf(templates: Templates, { name, config, standing }: LoadedPipeline): Promise<void> {
  const group = limitedNamespace(standing);
  const owner = { run: null, share: name, ...(group !== null && { group }) };
  if (config.concurrency) await templates.compileKey(config.concurrency, owner);
}

/** A key of each of a thousand alerts is rendered in one transaction. */
const KEY_VISITS = 500;
/** Characters of a key; each run holds its own. */
const KEY_CHARS = 256;
const shortKey = (text: string): string =>
  text.length <= KEY_CHARS ? text : createHash('sha256').update(text).digest('hex');

export interface Joining {
  concurrencyGroups: ConcurrencyGroups;
  cancel(runId: string, by: string): Promise<unknown>;
  log: { error(fields: object, message: string): void };
}

/** One that had its place before a restart may have asked people. */
export const hasBegun = ({ inFlight, results }: ActiveRun): boolean => inFlight.size + results.size > 0;

/**
 * Waits for a place, cancelling the oldest run in it where the concurrency group says so; throws the reason when the run stops
 * first. One whose place another run took after a restart cancels nobody.
 */
export async function enterConcurrencyGroup(
  { concurrencyGroups, cancel, log }: Joining,
  concurrencyGroup: ConcurrencyGroup,
  run: ActiveRun,
): Promise<void> {
  if (concurrencyGroups.tryTake(concurrencyGroup, run.id)) return;
  const { signal } = run.controller;
  const entering = concurrencyGroups.take(concurrencyGroup, run.id, signal, run.parent !== null);
  const cancels = concurrencyGroup.onLimit === 'cancel_running' && !hasBegun(run);
  const oldest = cancels ? concurrencyGroups.oldest(concurrencyGroup) : undefined;
  if (oldest !== undefined && oldest !== run.id)
    cancel(oldest, `run ${run.id} of the same key`).catch((error: unknown) =>
      log.error({ run_id: oldest, err: error }, 'a run could not be cancelled for a newer one of its key'),
    );
  if (!(await entering)) throw stopReason(signal) ?? new Error('stopped');
}
