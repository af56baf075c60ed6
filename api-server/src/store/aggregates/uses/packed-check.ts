import { type Kysely, sql } from 'kysely';
import { DAY_MS } from '../../../analytics/window.ts';
import { keyName } from '../../../runs/state/hourly.ts';
import { isWork } from '../../db/rows/executions.ts';
import type { Tables } from '../../db/schema.ts';
import { lastMark } from '../../tables/marks.ts';
import { behind, type Group, type SummedShortfall } from '../hourly-check.ts';
import { RUNS_PACKED } from './pack-days.ts';
import { type Part, type StagedKind, unpackUses, type Use, useOf } from './packed-runs.ts';

/** Compares the packed runs of each day and what they used with a full scan of the rows; more is right, because removed runs stay packed. */
export async function checkPacked(db: Kysely<Tables>): Promise<SummedShortfall[]> {
  const packed = await lastMark(db, RUNS_PACKED);
  if (packed === null) return [];
  const parts: Part[] = await db.selectFrom('packed_runs').selectAll().execute();
  return behind('packed_runs', await storedUses(db, packed), packedUses(parts));
}

function packedUses(parts: readonly Part[]): Group[] {
  const groups = new Map<string, Group>();
  for (const part of parts)
    unpackUses(part, (kind, use) => {
      const labels = labelsOf(part.day, kind, use);
      const key = JSON.stringify(labels);
      const group = groups.get(key) ?? { labels, n: 0 };
      group.n += 1;
      groups.set(key, group);
    });
  return [...groups.values()];
}

const labelsOf = (day: number, { pipeline, stage, status, team }: StagedKind, [agent, model]: Use): string[] => [
  String(day),
  pipeline,
  stage,
  status,
  team ?? '',
  agent,
  model,
];

interface Row extends StagedKind {
  day: number;
  agent: string | null;
  model: string | null;
  n: number;
}

async function storedUses(db: Kysely<Tables>, packed: number): Promise<Group[]> {
  const { rows } = await sql<Row>`
    select runs.triggered_at - runs.triggered_at % ${sql.lit(DAY_MS)} as day, runs.pipeline_name as pipeline, runs.stage as stage,
      runs.status as status, runs.team as team, agent, model, count(*) as n
    from (select distinct run_id, agent, model from step_executions where ${isWork()}) as had join runs on runs.id = had.run_id
    where runs.completed_at is not null and runs.triggered_at < ${packed}
    group by day, runs.pipeline_name, runs.stage, runs.status, runs.team, agent, model`.execute(db);
  return rows.map(({ day, agent, model, n, ...kind }) => ({
    labels: labelsOf(day, { ...kind, team: keyName('team', kind.team) }, useOf(agent, model)),
    n,
  }));
}
