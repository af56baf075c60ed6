import { setTimeout as sleep } from 'node:timers/promises';
import type { Pipeline } from '@signalbox/crds';
import type { ReadinessReport } from '../../analytics/readiness/readiness.ts';
import { verdictReason } from '../../analytics/readiness/summary.ts';
import type { Verdict } from '../../analytics/readiness/verdict.ts';

export interface Assessed {
  verdict: Verdict;
  reason: string;
  /** When the evidence was gathered, in milliseconds. */
  at: number;
}

interface Edition {
  name: string;
  hash: string;
  config: Pipeline;
}

export interface VerdictsDeps {
  pipelines(): readonly Edition[];
  evaluate(pipeline: Pipeline): Promise<ReadinessReport>;
  now(): number;
  pause?(milliseconds: number, signal: AbortSignal): Promise<unknown>;
  log: { error(fields: object, message: string): void };
}

export interface Verdicts {
  /** The verdict on this version of a pipeline; null until it is evaluated. */
  of(name: string, hash: string): Assessed | null;
  /** Evaluates the pipeline that is due; false where none is. */
  next(): Promise<boolean>;
  start(): void;
  stop(): Promise<void>;
}

/** Age at which a verdict is evaluated again. */
const FRESH_MS = 600_000;
/** A changed pipeline is evaluated earlier, but at most this often: definitions may change every second. */
const CHANGED_MS = 30_000;
const LOOK_MS = 2_000;
/** Verdicts may use at most one part in this many of the time of a thread that reads. */
const SHARE = 10;

interface Kept extends Assessed {
  hash: string;
  /** Time of the last attempt, also of a failed one. */
  tried: number;
}

/** Keeps a verdict on every loaded pipeline; evaluates in the background, one pipeline at a time. */
export function createVerdicts(deps: VerdictsDeps): Verdicts {
  const { pipelines, evaluate, now, pause = patiently, log } = deps;
  const kept = new Map<string, Kept | { hash: null; tried: number }>();
  const stopping = new AbortController();
  let loop: Promise<void> | null = null;

  const dueAt = ({ name, hash }: Edition): number => {
    const known = kept.get(name);
    return known === undefined ? -Infinity : known.tried + (known.hash === hash ? FRESH_MS : CHANGED_MS);
  };

  const next = async (): Promise<boolean> => {
    const loaded = pipelines();
    const names = new Set(loaded.map(({ name }) => name));
    for (const name of kept.keys()) if (!names.has(name)) kept.delete(name);
    const [first] = loaded.filter((one) => dueAt(one) <= now()).toSorted((a, b) => dueAt(a) - dueAt(b));
    if (!first) return false;
    const { name, hash, config } = first;
    kept.set(name, { ...(kept.get(name) ?? { hash: null }), tried: now() });
    try {
      const report = await evaluate(config);
      const { verdict, gatheredAt: at } = report;
      kept.set(name, { verdict, reason: verdictReason(report), at, hash, tried: now() });
    } catch (error) {
      log.error({ err: error, pipeline: name }, 'the readiness verdict of a pipeline could not be evaluated');
    }
    return true;
  };

  const run = async (): Promise<void> => {
    const { signal } = stopping;
    while (!signal.aborted) {
      const began = now();
      const found = await next();
      await pause(found ? (now() - began) * SHARE : LOOK_MS, signal);
    }
  };

  return {
    of: (name, hash) => {
      const known = kept.get(name);
      return known !== undefined && known.hash !== null && known.hash === hash ? known : null;
    },
    next,
    start: () => {
      loop ??= run();
    },
    stop: async () => {
      stopping.abort();
      await loop;
    },
  };
}

const patiently = (milliseconds: number, signal: AbortSignal): Promise<unknown> =>
  sleep(milliseconds, null, { signal, ref: false }).catch(() => null);
