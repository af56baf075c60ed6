import type { LogLine } from '../../../../service/views/run.ts';
import type { ShownRun } from '../step/shown-step.ts';
import { part, type Part } from './part.ts';

/** The time that a run waited before it started; null where its log says nothing of a queue. */
export function queueOf(run: ShownRun, log: readonly LogLine[]): Part | null {
  const queued = run.status === 'queued' || log.some(({ event }) => event === 'run_queued');
  if (!queued) return null;
  const started = log.find(({ event }) => event === 'run_started')?.ts ?? run.completed_at;
  const to = started === null ? null : Date.parse(started);
  return part({ kind: 'queue', label: 'Queue', from: Date.parse(run.triggered_at), to });
}
