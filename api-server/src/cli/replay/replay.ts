import { setTimeout as delay } from 'node:timers/promises';
import { BAD_USAGE, refuseUsage } from '@signalbox/crds/process/command-line';
import type { GoldenSetList } from '../../service/views/analytics/golden-set.ts';
import type { ReplayReport } from '../../service/views/replay.ts';
import type { ReplayStarted } from '../../service/views/replay-batch.ts';
import { type Ask, createClient } from './client.ts';
import { type Options, readOptions, USAGE } from './options.ts';
import { verdictOf } from './verdict.ts';

const POLL_MS = 1000;

/** Runs the command; resolves to the exit code. */
export async function replay(args: string[], env: Readonly<Record<string, string | undefined>>): Promise<number> {
  const read = readOptions(args, env);
  if (read.kind === 'error') return refuseUsage('replay', read.message, USAGE);
  if (read.kind === 'help') {
    process.stdout.write(USAGE);
    return 0;
  }
  try {
    return await run(read.options);
  } catch (error) {
    process.stderr.write(`replay: ${error instanceof Error ? error.message : String(error)}\n`);
    return BAD_USAGE;
  }
}

async function run(options: Options): Promise<number> {
  const { url, json, limits } = options;
  const ask = createClient(url, options.token);
  const { run_id: runId } = await start(ask, options);
  process.stderr.write(`${new URL(`/ui/replays/${runId}`, url).href}\n`);
  const report = await follow(ask, runId, options.timeoutMs);
  const { passed, lines } = verdictOf(report, limits);
  if (json) process.stdout.write(`${JSON.stringify(report)}\n`);
  (json ? process.stderr : process.stdout).write(`${lines.join('\n')}\n`);
  return passed ? 0 : 1;
}

async function start(ask: Ask, { goldenSet, step, k, candidate }: Options): Promise<ReplayStarted> {
  if (goldenSet === null)
    return ask('POST', `/steps/${encodeURIComponent(step ?? '')}/replay/start`, {
      bucket: 'current',
      candidate,
      mode: 'rerender',
      k,
    });
  const { golden_sets: sets } = await ask<GoldenSetList>('GET', '/golden-sets');
  const set = sets.find(({ id, name }) => name === goldenSet || id === goldenSet);
  if (!set) throw new Error(`there is no golden set "${goldenSet}"`);
  if (step !== null && step !== set.step_name)
    throw new Error(`golden set "${goldenSet}" is of step "${set.step_name}", not "${step}"`);
  return ask('POST', `/golden-sets/${set.id}/replay`, { candidate });
}

const ACTIVE = new Set(['queued', 'running', 'interrupted']);

/** The report once the batch has ended, with its progress on the way. */
async function follow(ask: Ask, runId: string, timeoutMs: number): Promise<ReplayReport> {
  const until = Date.now() + timeoutMs;
  let shown = '';
  for (;;) {
    const report = await ask<ReplayReport>('GET', `/replays/${runId}/report`);
    const done = report.rows.filter(({ status }) => status !== 'pending' && status !== 'running').length;
    const progress = `${done} of ${report.rows.length} samples`;
    if (progress !== shown) process.stderr.write(`${progress}\n`);
    shown = progress;
    if (!ACTIVE.has(report.status)) return report;
    if (Date.now() > until) throw new Error(`the replay goes on; no more waiting after ${timeoutMs / 1000} s`);
    await delay(POLL_MS);
  }
}
