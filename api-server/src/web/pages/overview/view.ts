import { count } from '../format.ts';
import { paths } from '../paths.ts';
import type { Snapshot } from '../../../service/definitions/definitions.ts';
import type { PageDeps } from '../page-deps.ts';
import type { ReadinessVerdict } from '../../../service/views/analytics/readiness.ts';
import type { RunLine, RunsPage } from '../../../service/views/run.ts';
import type { TrendDay } from '../../../service/views/analytics/statistics.ts';
import { verdictLook } from '../readiness/look.ts';
import type { FirstRun } from '../runs/first-run.ts';
import { plural, runRow, runTitle } from '../runs/row.ts';
import { statusLook } from '../status.ts';
import { trendView } from './trend.ts';

const SHOWN = 6;
/** Of them runs that wait for a decision: they hide no escalation. */
const SHOWN_ASKED = 3;
/** What waits for people, under the look of an escalated run. */
const OPEN = { status: 'escalated', query: { attention: 'open' } };
/** Both statuses need a person. */
const FAILED = 'failed,aborted';

export interface OverviewInput {
  running: RunsPage;
  /** Active as well, but they wait for a decision. */
  asking: RunsPage;
  /** Ended without a result, and nobody has acknowledged them. */
  open: RunsPage;
  /** Failed and aborted ones. */
  failed: RunsPage;
  completed: RunsPage;
  testing: RunsPage;
  /** Deliveries of the last 24 hours that started nothing and should have. */
  refused: Awaited<ReturnType<PageDeps['keptDeliveries']['refused']>>;
  /** The last days; null while they take too long. */
  trend: readonly TrendDay[] | null;
  pipelines: Snapshot['pipelines'];
  verdictOf: PageDeps['definitions']['verdictOf'];
  first: FirstRun;
  now: number;
  currency: string;
}

const line = (input: OverviewInput, detail: (run: RunLine) => string | null) => (run: RunLine) => ({
  ...runRow(run, input),
  summary: runTitle(run),
  detail: detail(run),
});

/** The overview: runs that are active, wait for a person or failed, and pipelines that may leave testing. */
export function overviewView(input: OverviewInput) {
  const asked = input.asking.runs;
  const waiting = [...asked.slice(0, SHOWN_ASKED), ...input.open.runs, ...asked.slice(SHOWN_ASKED)];
  const running = input.running.runs;
  const onPeople = input.asking.total;
  const counts = {
    running: counted(input.running),
    waiting: counted(input.open, onPeople),
    failed: counted(input.failed),
    completed: counted(input.completed),
  };
  const failed = input.failed.runs;
  const testing = input.pipelines.filter((pipeline) => pipeline.config.stage !== 'production');
  const plain = line(input, () => null);
  const seen = running.length + waiting.length + failed.length + input.completed.total + input.testing.total;
  return {
    empty: seen === 0,
    first: input.first,
    lead: seen === 0 ? 'Nothing has run yet.' : lead(counts),
    tiles: [
      tile({ status: 'running', label: 'Running now', counted: counts.running, note: 'in progress' }),
      tile({ ...OPEN, label: 'Waiting for you', counted: counts.waiting, note: waitingNote(onPeople, input.open) }),
      tile({ status: FAILED, label: 'Failed', counted: counts.failed, note: 'or aborted, last 24 hours' }),
      tile({ status: 'completed', label: 'Completed', counted: counts.completed, note: 'last 24 hours' }),
    ],
    refused: input.refused.map(refusedLine),
    trend: trendView(input.trend ?? [], input.currency),
    panels: [
      panel({
        status: 'running',
        title: 'Running now',
        rows: running.slice(0, SHOWN).map(plain),
        none: 'No run is active.',
      }),
      panel({
        ...OPEN,
        title: 'Waiting for you',
        rows: waiting.slice(0, SHOWN).map(line(input, whyItWaits)),
        none: 'No run waits for a person.',
        also: onPeople > 0 ? { href: paths.approvals(), label: 'Approvals' } : null,
      }),
      panel({
        status: FAILED,
        title: 'Failed recently',
        rows: failed.slice(0, SHOWN).map(plain),
        none: 'No run failed in the last 24 hours.',
      }),
    ],
    pipelinesPath: paths.pipelines(),
    testing: testing
      .map((pipeline) => testingLine(pipeline, input))
      .toSorted((a, b) => a.rank - b.rank)
      .slice(0, SHOWN),
    testingNone: input.pipelines.length === 0 ? 'No pipeline is loaded.' : 'Every pipeline is in production.',
  };
}

const WHY_REFUSED = {
  no_pipeline: 'matched no pipeline',
  at_capacity: 'came while every slot was taken',
  invalid: 'could not be read',
} as const;

const refusedLine = ({ outcome, count: found, isMore }: OverviewInput['refused'][number]) => ({
  text: `${count(found)}${isMore ? ' or more deliveries' : found === 1 ? ' delivery' : ' deliveries'} of the last 24 hours ${WHY_REFUSED[outcome]}.`,
  href: paths.deliveries({ outcome }),
});

/** How many runs a list has, and its figure: with a plus where there are more than are counted. */
interface Counted {
  n: number;
  figure: string;
}

function counted({ total, total_is_lower_bound: more }: RunsPage, others = 0): Counted {
  const n = total + others;
  return { n, figure: `${count(n)}${more === true ? '+' : ''}` };
}

const several = ({ n, figure }: Counted, word: string): string => `${figure} ${word}${n === 1 ? '' : 's'}`;

function lead({ waiting, failed }: Record<'waiting' | 'failed', Counted>): string {
  if (waiting.n === 0 && failed.n === 0) return 'No run waits for a person and none failed in the last 24 hours.';
  const parts = [
    waiting.n > 0 ? `${several(waiting, 'run')} waiting for you` : null,
    failed.n > 0 ? `${several(failed, 'failure')} in the last 24 hours` : null,
  ];
  return `${parts.filter((part) => part !== null).join(', ')}.`;
}

/** The list behind the tile has those that wait to be acknowledged, so both are counted. */
const waitingNote = (asked: number, open: RunsPage): string =>
  asked > 0 && open.total > 0
    ? `${count(asked)} to decide, ${counted(open).figure} to acknowledge`
    : 'to decide or acknowledge';

const whyItWaits = (run: RunLine): string | null => (run.waiting_on === 'human' ? 'waiting for a decision' : null);

interface Behind {
  status: string;
  /** Of the list behind it; the status where there is none. */
  query?: Record<string, string>;
}

function tile({
  status,
  query,
  label,
  counted: { n, figure },
  note,
}: Behind & { label: string; counted: Counted; note: string }) {
  const { icon, tone } = statusLook(status.split(',')[0] ?? status);
  return {
    label,
    figure,
    note,
    icon,
    tone: n === 0 ? 'quiet' : tone,
    href: paths.runs(query ?? { status, replay: 'false' }),
  };
}

interface Panel<Row> extends Behind {
  title: string;
  rows: Row[];
  none: string;
  /** Another list that its rows are from. */
  also?: { href: string; label: string } | null;
}

const panel = <Row>({ status, query, also = null, ...rest }: Panel<Row>) => ({
  ...rest,
  also,
  id: status.split(',')[0],
  more: rest.rows.length > 0 ? paths.runs(query ?? { status, replay: 'false' }) : null,
});

/** Pipelines that are closest to production first. */
const RANKS: readonly ReadinessVerdict[] = ['ready', 'building', 'not_ready', 'no_data', 'not_configured'];

function testingLine({ name, hash }: Snapshot['pipelines'][number], { testing, verdictOf }: OverviewInput) {
  const assessed = verdictOf(name, hash);
  const isJudged = assessed !== null && assessed.verdict !== 'not_configured';
  return {
    name,
    href: `${paths.pipeline(name)}#readiness`,
    look: verdictLook(assessed && assessed.verdict),
    note: isJudged ? sentence(assessed.reason) : recentNote(name, testing),
    rank: assessed ? RANKS.indexOf(assessed.verdict) : RANKS.length,
  };
}

const sentence = (reason: string): string => reason.slice(0, 1).toUpperCase() + reason.slice(1);

function recentNote(name: string, recent: RunsPage): string {
  const runs = recent.runs.filter((run) => run.pipeline_name === name);
  const completed = runs.filter((run) => run.status === 'completed').length;
  return runs.length === 0
    ? 'no run in the last 7 days'
    : `${completed} of ${plural(runs.length, 'recent run')} completed`;
}
