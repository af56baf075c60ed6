import type { ReplayBatchLine } from '../../../service/views/replay-batch.ts';
import { age, exactTime } from '../format.ts';
import { paths } from '../paths.ts';
import { plural } from '../runs/row.ts';
import { isActive, type StatusLook, statusLook } from '../status.ts';
import { candidateWords, changesWords, rangeWords } from './words.ts';

export interface ListInput {
  batches: readonly ReplayBatchLine[];
  limit: number;
  step: string | null;
  steps: readonly string[];
  /** Those with a step outside of groups that asks an agent. */
  pipelines: readonly string[];
  isOn: boolean;
  operator: boolean;
  now: number;
}

/** All batches, the newest first, each with how far it is. */
export function replaysView({ batches, limit, step, steps, pipelines, isOn, operator, now }: ListInput) {
  const last = batches.at(-1);
  return {
    count: batches.length < limit ? plural(batches.length, 'replay') : `the newest ${limit} replays`,
    off: !isOn,
    action: paths.replayNew(),
    steps: isOn && operator ? steps : [],
    rangeAction: paths.replayRange(),
    pipelines: isOn && operator ? pipelines : [],
    poll: batches.some(({ status }) => isActive(status)) ? '2000' : null,
    filter: step === null ? null : { step, href: paths.replays() },
    rows: batches.map((batch) => rowOf(batch, now)),
    older: last !== undefined && batches.length === limit ? paths.replays({ step, before: last.run_id }) : null,
  };
}

function rowOf(batch: ReplayBatchLine, now: number) {
  const { run_id: id, samples, attempted } = batch;
  const active = isActive(batch.status);
  return {
    id,
    href: paths.replay(id),
    step: titleOf(batch),
    candidate: batch.kind === 'step' ? candidateWords(batch.candidate, batch.source) : changesWords(batch.candidates),
    scheduled: batch.source === 'regression',
    status: lookOf(batch),
    progress: active ? { value: String(attempted), max: String(Math.max(1, samples)) } : null,
    samples: active
      ? `${attempted} of ${plural(samples, batch.kind === 'step' ? 'sample' : 'run')}`
      : plural(samples, batch.kind === 'step' ? 'sample' : 'run'),
    since: batch.triggered_at,
    exact: exactTime(batch.triggered_at),
    age: age(batch.triggered_at, now),
  };
}

/** What a completed replay found, the worst news first; of others how they stand. */
function lookOf({ status, regressed, improved, unchanged, failed }: ReplayBatchLine): StatusLook {
  const graded = regressed + improved + unchanged;
  if (regressed > 0) return { icon: 'failed', tone: 'bad', word: `${regressed} of ${graded} regressed` };
  if (status !== 'completed') return statusLook(status);
  if (failed > 0) return { icon: 'failed', tone: 'bad', word: `${failed} failed` };
  if (graded === 0) return { icon: 'pending', tone: 'wait', word: 'Not graded' };
  return { icon: 'completed', tone: 'good', word: 'None regressed' };
}

const titleOf = ({ step_name: from_step, pipeline_name, to_step }: ReplayBatchLine): string =>
  pipeline_name === null || to_step === null ? from_step : rangeWords({ pipeline_name, from_step, to_step });
