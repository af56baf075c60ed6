import type { RunWrites } from '../../runs/state/records.ts';
import { addCounters } from '../db/counters.ts';
import type { Eventually, Tx } from '../db/database.ts';
import { hourlyRun, hourlyStep } from '../db/rows/hourly-rows.ts';
import { toStatement, toWrite } from '../db/write.ts';
import { noteEnd } from './attention.ts';
import { addJudgedSince } from './labels/judged-steps.ts';
import { labelFailed } from './labels/relabel.ts';
import { appendEvents } from './event-writes.ts';
import { endRun, insertRun, keepDefinition, setLiveStatus } from './run-writes.ts';
import { type StepRow, toStepRow } from '../db/rows/step-row.ts';
import { endStepRow, insertStepRow, noteAttempt } from './step-writes.ts';

/** What runs store, as the engine composes it. */
export const runWrites: RunWrites = {
  insertChild: (row, { hash, name, config }) =>
    toWrite(async (tx) => {
      const stored_at = row.triggered_at;
      await keepDefinition(tx, { hash, kind: 'Pipeline', name, body: JSON.stringify(config), stored_at });
      await insertRun(tx, row);
    }),
  setLiveStatus: (id, status) => toWrite((tx) => setLiveStatus(tx, id, status)),
  endRun: (run) =>
    toWrite(async (tx) => {
      if (!(await endRun(tx, run))) return;
      tx.sum({ table: 'hourly_runs', row: hourlyRun(run) });
      await Promise.all([tx.run(addJudgedSince, { run_id: run.id }), noteEnd(tx, run)]);
    }),
  insertStep: (step) => {
    const row = toStepRow(step);
    return toStatement((tx) => tx.run(insertStepRow, row));
  },
  endStep: (step) => {
    const row = toStepRow(step);
    // The branches of a group count, the group does not.
    const isCounted = !GROUPS.has(step.kind);
    const hourly = isCounted ? hourlyStep({ ...row, completed_at: step.completedAt }) : null;
    const end = (tx: Tx) => {
      if (hourly) tx.sum({ table: 'hourly_steps', row: hourly });
      return tx.run(endStepRow, row);
    };
    const isLabel = isCounted && row.deterministic_passed === 0;
    return isLabel ? toWrite((tx) => labelled(tx, end(tx), row)) : toStatement(end);
  },
  countAttempt: (id, attempts, raw) => {
    const row = { id, attempts, raw_response: JSON.stringify(raw) };
    return toStatement((tx) => tx.run(noteAttempt, row));
  },
  addCounters: (counters) => toStatement((tx) => addCounters(tx, counters)),
  appendEvents: (runId, events) => toStatement((tx) => appendEvents(tx, runId, events)),
};

/** A failed check is a label. */
async function labelled(tx: Tx, ended: Eventually<number>, row: StepRow): Promise<void> {
  await ended;
  await labelFailed(tx, row);
}

const GROUPS = new Set(['parallel', 'fan_out']);
