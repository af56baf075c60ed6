import type { RunFilter } from './run-filter.ts';
import { factOf } from './words.ts';

/** Columns of a run that a filter compares as a whole. */
const COLUMNS = ['pipeline_name', 'team', 'stage', 'severity', 'source', 'fingerprint', 'status'] as const;

type FactRow = Record<(typeof COLUMNS)[number], string | null> & { warning_count: number; batches: number };

/** Who answered in a run. */
export interface Asked {
  agent: string | null;
  model: string | null;
}

const given = (name: string, value: string | null): string[] => (value === null ? [] : [factOf(name, value)]);

/** The facts of an ended run, each once. */
export function factsOfRun(row: FactRow, labels: Readonly<Record<string, unknown>>, steps: readonly Asked[]): string[] {
  const facts = [
    ...COLUMNS.flatMap((column) => given(column, row[column])),
    ...Object.entries(labels).map(([key, value]) => factOf('label', key, String(value))),
    ...steps.flatMap(({ agent, model }) => [...given('agent', agent), ...given('model', model)]),
    factOf('warnings', String(row.warning_count > 0)),
    factOf('replay', String(row.batches > 0)),
  ];
  return [...new Set(facts)];
}

const EQUAL = {
  pipeline: 'pipeline_name',
  team: 'team',
  stage: 'stage',
  severity: 'severity',
  source: 'source',
} as const;
const SAME = { ...EQUAL, fingerprint: 'fingerprint', agent: 'agent', model: 'model' } as const;

/** What a filter asks of the facts of a run: one of each of these lists. */
export function askedFacts(filter: RunFilter): string[][] {
  const asked = Object.entries(SAME).flatMap(([key, name]) => {
    const value = filter[key as keyof typeof SAME];
    return value === undefined ? [] : [[factOf(name, value)]];
  });
  const labels = (filter.labels ?? []).map(({ key, value }) => [factOf('label', key, value)]);
  const either = (['warnings', 'replay'] as const).flatMap((name) =>
    filter[name] === undefined ? [] : [[factOf(name, String(filter[name]))]],
  );
  const ended = filter.status === undefined ? [] : [filter.status.map((status) => factOf('status', status))];
  return [...asked, ...labels, ...either, ...ended];
}
