import { type CompiledQuery, type Kysely, type RawBuilder, sql } from 'kysely';
import { all, type Condition, equals, within } from '../aggregates/scope.ts';
import type { Tables } from '../db/schema.ts';
import { type KeyedRow, type TextFormat, type TextPage, textPage, type TextShape } from '../db/texts/text-page.ts';

export const EXPORT_KINDS = ['runs', 'steps', 'marks', 'deliveries'] as const;
export type ExportKind = (typeof EXPORT_KINDS)[number];

/** Times in milliseconds, `since` included, `until` not. */
export interface ExportFilter {
  pipeline?: string | undefined;
  since?: number | undefined;
  until?: number | undefined;
}

/** `next` is where the following page begins, null after the last one. */
export interface ExportPage {
  text: Uint8Array<ArrayBuffer>;
  next: number | null;
}

/** Where a page begins, and whether its header comes with it. */
export interface ExportPlace {
  /** The key where the page before ended, 0 for the first. */
  after: number;
  format: TextFormat;
  header: boolean;
}

export interface ExportReader {
  db: Kysely<Tables>;
  readText(query: CompiledQuery, as: TextShape): Promise<TextPage>;
}

/** The keys of one page. */
interface Keys {
  after: number;
  last: number;
}

interface Source {
  /** What pages are cut by: it grows, and an index has it. */
  key: { table: 'runs' | 'deliveries'; column: 'seq' | 'id' };
  /** How many keys one page looks at: it takes no longer, however few rows the filter lets through. Full pages end sooner. */
  keys: number;
  /** How many rows a key has, where one may have thousands: a page ends before it has more than `MOST_ROWS`, but for those of one key. */
  held?: RawBuilder<number>;
  from(keys: Keys): RawBuilder<unknown>;
  /** Columns of the table; those that are computed stand in `computed`. */
  columns: readonly string[];
  computed?: Readonly<Record<string, RawBuilder<unknown>>>;
  pipeline: string;
  time: string;
  order: RawBuilder<unknown>;
}

const MOST_ROWS = 2_000;

const seconds = (from: string, to: string) => sql`cast(${sql.ref(to)} - ${sql.ref(from)} as double precision) / 1000`;

const of = (table: string, names: string): string[] => names.split(' ').map((name) => `${table}.${name}`);

const RUNS = { table: 'runs', column: 'seq' } as const;
/** The marks of these runs alone: the database looks into both tables by run, and not through all marks for every page. */
function marksOf({ after, last }: Keys): RawBuilder<unknown> {
  const ofPage = sql`run_id in (select id from runs where seq > ${after} and seq <= ${last})`;
  return sql`(select run_id, null as step_name, outcome, notes, submitted_at, submitted_by from run_feedback where ${ofPage}
  union all select run_id, step_name, outcome, notes, submitted_at, submitted_by from step_feedback where ${ofPage})`;
}

const SOURCES: Readonly<Record<ExportKind, Source>> = {
  runs: {
    key: RUNS,
    keys: 100,
    from: () => sql`runs left join run_feedback on run_feedback.run_id = runs.id`,
    columns: of(
      'runs',
      'id pipeline_name source status team stage severity summary triggered_at completed_at fingerprint ' +
        'started_by parent_run_id rerun_of error_step error_message trust threshold input_tokens ' +
        'output_tokens cost unpriced_steps warning_count',
    ),
    computed: {
      duration_seconds: seconds('runs.triggered_at', 'runs.completed_at'),
      feedback_outcome: sql.ref('run_feedback.outcome'),
    },
    pipeline: 'runs.pipeline_name',
    time: 'runs.triggered_at',
    order: sql`runs.seq`,
  },
  steps: {
    key: RUNS,
    keys: 50,
    held: sql`(select count(*) from step_executions where run_id = runs.id)`,
    from: () => sql`runs cross join step_executions as step left join step_feedback
      on step_feedback.run_id = step.run_id and step_feedback.step_name = step.step_name`,
    columns: of(
      'step',
      'id run_id step_name step_index kind executor agent model provider status pipeline_name team stage ' +
        'prompt_hash agent_version primary_confidence verifier_confidence effective_confidence ' +
        'grounding_score deterministic_passed input_tokens output_tokens cost cost_source started_at ' +
        'completed_at attempts summary error_type error_message output',
    ),
    computed: {
      duration_seconds: seconds('step.started_at', 'step.completed_at'),
      feedback_outcome: sql.ref('step_feedback.outcome'),
    },
    pipeline: 'step.pipeline_name',
    time: 'step.started_at',
    order: sql`runs.seq, step.step_index, step.started_at, step.step_name`,
  },
  marks: {
    key: RUNS,
    keys: 500,
    from: (page) => sql`runs cross join ${marksOf(page)} as mark`,
    columns: [
      ...of('mark', 'run_id step_name'),
      ...of('runs', 'pipeline_name stage'),
      ...of('mark', 'outcome notes submitted_at submitted_by'),
    ],
    pipeline: 'runs.pipeline_name',
    time: 'mark.submitted_at',
    order: sql`runs.seq, mark.step_name`,
  },
  deliveries: {
    key: { table: 'deliveries', column: 'id' },
    keys: 100,
    from: () => sql`deliveries`,
    columns: of(
      'deliveries',
      'id received_at source outcome status_code pipeline run_id summary severity labels fingerprint detail ' +
        'token_name team',
    ),
    pipeline: 'deliveries.pipeline',
    time: 'deliveries.received_at',
    order: sql`deliveries.id`,
  },
};

const LINKS: Partial<Record<ExportKind, Condition>> = {
  steps: sql`step.run_id = runs.id`,
  marks: sql`mark.run_id = runs.id`,
};

const nameOf = (column: string): string => column.slice(column.indexOf('.') + 1);

/** The columns of each export in order. */
export const exportColumns = (kind: ExportKind): string[] => {
  const { columns, computed = {} } = SOURCES[kind];
  return [...columns.map(nameOf), ...Object.keys(computed)];
};

/** Stand for the keys of a page in a statement that is made once for all pages of an export; no key and no time is so small. */
const [AFTER, LAST] = [Number.MIN_SAFE_INTEGER, Number.MIN_SAFE_INTEGER + 1];

const withKeys = (query: CompiledQuery, { after, last }: Keys): CompiledQuery => {
  const keys = new Map<unknown, number>([
    [AFTER, after],
    [LAST, last],
  ]);
  return { ...query, parameters: query.parameters.map((value) => keys.get(value) ?? value) };
};

/** Reads the pages of an export, the oldest rows first. To make a statement for each of them filled the memory of the event loop. */
export function exportPages(
  { db, readText }: ExportReader,
  kind: ExportKind,
  filter: ExportFilter,
): (place: ExportPlace) => Promise<ExportPage> {
  const { keys } = SOURCES[kind];
  const ends = endsOf(kind).compile(db);
  const rows = rowsOf(kind, filter, { after: AFTER, last: LAST }).compile(db);
  const columns = exportColumns(kind);
  return async ({ after, format, header }) => {
    const { rows: found } = await db.executeQuery<Ends>(withKeys(ends, { after, last: LAST }));
    const { last = null, looked = null, n = 0 } = found[0] ?? {};
    const shape = { format, columns, header };
    if (last === null) return { text: textPage([], shape).text, next: null };
    const { text, last: cut } = await readText(withKeys(rows, { after, last }), shape);
    return { text, next: cut ?? (n < keys && last === looked ? null : last) };
  };
}

/** The last key of a page, and of the `n` keys that were looked at. */
interface Ends {
  last: number | null;
  looked: number | null;
  n: number;
}

function endsOf(kind: ExportKind): RawBuilder<Ends> {
  const { key, keys, held = sql.lit(0) } = SOURCES[kind];
  const column = sql.ref(`${key.table}.${key.column}`);
  return sql`select max(place) filter (where up_to = held or up_to <= ${sql.lit(MOST_ROWS)}) as last, max(place) as looked, count(*) as n from (
      select place, held, sum(held) over (order by place) as up_to from (
        select ${column} as place, ${held} as held from ${sql.table(key.table)} where ${column} > ${AFTER} order by ${column} limit ${sql.lit(keys)}
      ) as page) as summed`;
}

function rowsOf(kind: ExportKind, filter: ExportFilter, page: Keys): RawBuilder<KeyedRow> {
  const { key, from, columns, computed = {}, pipeline, time, order } = SOURCES[kind];
  const column = sql.ref(`${key.table}.${key.column}`);
  const link = LINKS[kind];
  const where = all([
    sql<boolean>`${column} > ${page.after} and ${column} <= ${page.last}`,
    ...(link ? [link] : []),
    ...equals(pipeline, filter.pipeline),
    ...within(time, { from: filter.since ?? null, to: filter.until ?? null }),
  ]);
  const selected = sql.join([
    sql`${column} as page_key`,
    ...columns.map((one) => sql`${sql.ref(one)} as ${sql.ref(nameOf(one))}`),
    ...Object.entries(computed).map(([name, value]) => sql`${value} as ${sql.ref(name)}`),
  ]);
  return sql`select ${selected} from ${from(page)} where ${where} order by ${order}`;
}
