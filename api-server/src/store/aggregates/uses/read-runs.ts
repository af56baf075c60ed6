import { setImmediate } from 'node:timers/promises';
import { type Kysely, sql } from 'kysely';
import { exactTally, type RunTally, sketchedTally } from '../../../analytics/run-tally.ts';
import { DAY_MS, type Window } from '../../../analytics/window.ts';
import { HOUR_MS, hourOf } from '../../../runs/state/hourly.ts';
import type { Tables } from '../../db/schema.ts';
import { lastMark } from '../../tables/marks.ts';
import { EXACT_DAYS } from '../daily/closed-days.ts';
import { all, asksForExecutions, keyed, type Scope, within } from '../scope.ts';
import { packedParts } from './kept-parts.ts';
import { RUNS_PACKED } from './pack-days.ts';
import { type StagedKind, unpackRuns, type Wanted } from './packed-runs.ts';
import { usedRuns } from './used-runs.ts';

/**
 * The ended runs that were triggered in the window and, where an agent or a model is asked for, had an execution of it: of packed days from
 * their parts, also those that were removed since, of other days from rows. Percentiles are exact where no more than a week is packed.
 */
export async function runsOf(db: Kysely<Tables>, scope: Scope): Promise<RunTally> {
  const { from, to } = scope.window;
  const packed = Math.min(to ?? Infinity, await packedUntil(db));
  const tally = packed - (from ?? 0) <= EXACT_DAYS * DAY_MS ? exactTally(scope) : sketchedTally(scope);
  await addRuns(db, scope, tally);
  return tally;
}

/** Adds these runs to a tally. */
export async function addRuns(db: Kysely<Tables>, scope: Scope, tally: RunTally): Promise<void> {
  const { from, to } = scope.window;
  const packed = Math.min(to ?? Infinity, await packedUntil(db));
  if ((from ?? 0) < packed) await addPacked(db, { scope, to: packed }, tally);
  for (const window of await daysOf(db, { from: Math.max(from ?? 0, packed), to })) {
    for (const { kind, times } of await usedRuns(db, { ...scope, window })) tally.add(kind, times);
    await setImmediate();
  }
}

const packedUntil = async (db: Kysely<Tables>): Promise<number> => (await lastMark(db, RUNS_PACKED)) ?? 0;

async function addPacked(
  db: Kysely<Tables>,
  { scope, to }: { scope: Scope; to: number },
  tally: RunTally,
): Promise<void> {
  const from = scope.window.from ?? 0;
  const wanted = wantedBy(scope);
  for await (const parts of packedParts(db, { from: from - (from % DAY_MS), to })) {
    for (const part of parts)
      unpackRuns(part, wanted, (kind, times) => {
        if (times.triggeredAt >= from && times.triggeredAt < to) tally.add(kind, times);
      });
    // Answers of the reading thread that are there already are taken in one turn of the event loop.
    await setImmediate();
  }
}

function wantedBy(scope: Scope): Wanted {
  const { stages, pipeline, team, agent, model } = scope;
  const known = new Map<string, StagedKind>();
  const sharedOf = (kind: StagedKind): StagedKind => {
    const key = JSON.stringify([kind.pipeline, kind.stage, kind.team, kind.status]);
    const shared = known.get(key) ?? kind;
    known.set(key, shared);
    return shared;
  };
  const of = {
    stages: new Set<string>(stages),
    pipeline,
    team: keyed('team', team),
    agent: keyed('agent', agent),
    model: keyed('model', model),
  };
  const is = (asked: string | undefined, found: string | null): boolean => asked === undefined || asked === found;
  return {
    kind: (kind) =>
      of.stages.has(kind.stage) && is(of.pipeline, kind.pipeline) && is(of.team, kind.team) ? sharedOf(kind) : null,
    use: asksForExecutions(scope)
      ? ([usedAgent, usedModel]) => is(of.agent, usedAgent) && is(of.model, usedModel)
      : null,
  };
}

/** The days (UTC) of a window in which runs were triggered, the first and the last as far as they are in it. */
async function daysOf(db: Kysely<Tables>, { from, to }: { from: number; to: number | null }): Promise<Window[]> {
  const hours = all(within('hour', { from: hourOf(from), to }));
  const { rows } = await sql<{ first: number | null; last: number | null }>`
    select (select min(hour) from hourly_runs where ${hours}) as first, (select max(hour) from hourly_runs where ${hours}) as last`.execute(
    db,
  );
  const { first = null, last = null } = rows[0] ?? {};
  if (first === null || last === null) return [];
  const end = Math.min(to ?? Infinity, last + HOUR_MS);
  const days: Window[] = [];
  for (let at = Math.max(from, first); at < end; at += DAY_MS - (at % DAY_MS))
    days.push({ from: at, to: Math.min(end, at + DAY_MS - (at % DAY_MS)) });
  return days;
}
