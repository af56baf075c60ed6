import { AppError } from '@signalbox/crds';
import { z } from 'zod';
import { type Attention, RESOLUTIONS } from '../../runs/state/attention.ts';
import type { Database, Tx } from '../../store/db/database.ts';
import { attentionOf, countOpen, storeAttention } from '../../store/tables/attention.ts';
import { insertAudit } from '../../store/tables/audit.ts';
import { findRun } from '../../store/tables/run-detail.ts';
import type { Actor } from '../actor.ts';
import { auditEntry } from '../audit/record.ts';
import { line, note, unknownId } from '../fields.ts';
import { component } from '../views/answer.ts';
import { type RunAttention, runAttentionView } from '../views/attention.ts';

const Note = note(10_000);

export const Acknowledgement = component(
  'Acknowledgement',
  z.strictObject({ assignee: line().nullish(), note: Note }),
  { assignee: 'ana', note: 'Looking at the pool.' },
);
export type Acknowledgement = z.output<typeof Acknowledgement>;

export const RunResolution = component(
  'RunResolution',
  z.strictObject({ resolution: z.enum(RESOLUTIONS), note: Note }),
  { resolution: 'false_alarm', note: 'A planned restart.' },
);
export type RunResolution = z.output<typeof RunResolution>;

export const Reopening = component('Reopening', z.strictObject({ note: Note }), { note: 'It is back.' });
export type Reopening = z.output<typeof Reopening>;

export interface AttentionDeps {
  database: Pick<Database, 'db' | 'write'>;
  now(): number;
}

/**
 * The life of an escalation: of each production run that ended escalated, failed or aborted. All throw `not_found`, and
 * `conflict` where the run needs nobody or is not in a state for it.
 */
export interface Escalations {
  /** Without an assignee the first acknowledgement assigns the actor; a later one changes what it names. */
  acknowledge(runId: string, given: Acknowledgement, actor: Actor): Promise<RunAttention>;
  resolve(runId: string, given: RunResolution, actor: Actor): Promise<RunAttention>;
  reopen(runId: string, given: Reopening, actor: Actor): Promise<RunAttention>;
  /** How many are open. */
  open(): Promise<number>;
  /** Calls the listener after every change that this process stored. */
  onChanged(listener: (changed: AttentionChange) => void): void;
}

/** A change of the attention of a run, and who made it. */
export interface AttentionChange {
  runId: string;
  attention: Attention;
  by: string;
}

interface Change {
  action: 'acknowledge' | 'resolve' | 'reopen';
  runId: string;
  actor: Actor;
  /** Throws `conflict` where the state does not allow it. */
  next(now: Attention): Attention;
  outcome(next: Attention): string;
}

export function createEscalations({ database, now }: AttentionDeps): Escalations {
  const listeners: ((changed: AttentionChange) => void)[] = [];
  const change = async ({ action, runId, actor, next, outcome }: Change): Promise<RunAttention> => {
    const attention = await database.write(async (tx) => {
      await tx.lock(`attention ${runId}`);
      const changed = next(await required(tx, runId));
      await storeAttention(tx, runId, changed, now());
      const done = { action, targetType: 'run' as const, target: runId, runId, outcome: outcome(changed) };
      await insertAudit(tx, auditEntry(actor, now(), done));
      return changed;
    });
    for (const listener of listeners) listener({ runId, attention, by: actor.name });
    return runAttentionView(runId, attention);
  };
  return {
    acknowledge: (runId, given, actor) =>
      change({
        action: 'acknowledge',
        runId,
        actor,
        next: (attention) => acknowledged(attention, given, { at: now(), by: actor.name }),
        outcome: ({ assignee }) => `acknowledged, assigned to ${assignee}`,
      }),
    resolve: (runId, given, actor) =>
      change({
        action: 'resolve',
        runId,
        actor,
        next: (attention) => resolved(attention, given, { at: now(), by: actor.name }),
        outcome: () => `resolved, ${given.resolution}`,
      }),
    reopen: (runId, given, actor) =>
      change({
        action: 'reopen',
        runId,
        actor,
        next: (attention) => reopened(attention, given),
        outcome: () => 'open',
      }),
    open: () => countOpen(database.db),
    onChanged: (listener) => void listeners.push(listener),
  };
}

async function required(tx: Tx, runId: string): Promise<Attention> {
  const attention = await attentionOf(tx.db, runId);
  if (attention) return attention;
  const run = await findRun(tx.db, runId);
  if (!run) throw unknownId('run');
  throw new AppError('conflict', `the run needs nobody: it is a ${run.stage} run with the status ${run.status}`);
}

interface Hand {
  at: number;
  by: string;
}

function acknowledged(attention: Attention, { assignee, note }: Acknowledgement, { at, by }: Hand): Attention {
  if (attention.state === 'resolved')
    throw new AppError('conflict', 'the run is resolved; reopen it before it is acknowledged');
  const isFirst = attention.state === 'open';
  return {
    ...attention,
    state: 'acknowledged',
    assignee: assignee ?? attention.assignee ?? by,
    note: note ?? attention.note,
    acknowledgedAt: isFirst ? at : attention.acknowledgedAt,
    acknowledgedBy: isFirst ? by : attention.acknowledgedBy,
  };
}

function resolved(attention: Attention, { resolution, note }: RunResolution, { at, by }: Hand): Attention {
  if (attention.state === 'resolved')
    throw new AppError('conflict', `the run is resolved already, by ${attention.resolvedBy}`);
  return {
    ...attention,
    state: 'resolved',
    note: note ?? attention.note,
    resolvedAt: at,
    resolvedBy: by,
    resolution,
  };
}

function reopened(attention: Attention, { note }: Reopening): Attention {
  if (attention.state === 'open') throw new AppError('conflict', 'the run is open');
  return {
    ...attention,
    state: 'open',
    note: note ?? attention.note,
    acknowledgedAt: null,
    acknowledgedBy: null,
    resolvedAt: null,
    resolvedBy: null,
    resolution: null,
  };
}
