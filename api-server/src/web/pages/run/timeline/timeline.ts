import { firstByRank } from '../first-by-rank.ts';
import type { ApprovalLine } from '../../../../service/views/approval.ts';
import type { LogLine } from '../../../../service/views/run.ts';
import { duration } from '../../format.ts';
import { plural } from '../../runs/row.ts';
import { stepLook } from '../../status.ts';
import { itemText } from '../graph/branches.ts';
import type { ShownRun, ShownStep } from '../step/shown-step.ts';
import { isOn, placeOf, type Span, ticksOf } from './axis.ts';
import { lanesOf } from './lanes.ts';
import { KINDS, type Part, type PartKind } from './part.ts';
import { partsOf } from './parts.ts';
import { queueOf } from './queue.ts';

export interface TimelineInput {
  run: ShownRun;
  /** In the order of the rows. */
  steps: ShownStep[];
  approvals: readonly ApprovalLine[];
  log: readonly LogLine[];
  now: number;
  chosen: string | null;
  /** Show the time of the chosen step alone. */
  zoomed: boolean;
  zoomHref: (zoomed: boolean) => string;
  hrefOf: (step: string) => string;
  pinOf: (step: ShownStep) => string | null;
}

/** A fan-out branch is labelled with its index and item. */
function labelOf({ kind, step_name: name }: ShownStep, steps: ShownStep[]): string {
  if (kind !== 'fan_out_branch') return name;
  const at = name.lastIndexOf('/');
  const group = steps.find(({ step_name }) => step_name === name.slice(0, at));
  return `#${name.slice(at + 1)} ${itemText(group?.raw_response?.items?.[Number(name.slice(at + 1))], 40)}`.trimEnd();
}

/** Heights in pixels. */
const LANE = 10;
const MARGIN = 5;
/** Parts of the chosen step that have a row of their own. */
const MOST_ROWS = 80;
/** Bars of all steps together; each step has some at least. */
const MOST_BARS = 240;
const FEWEST_BARS = 4;
/** From so many steps on, a step that is not chosen shows its longest part alone. */
const CROWD = 65;

interface Drawn {
  axis: Span;
  /** When the run was triggered. */
  zero: number;
  now: number;
}

const hasLength =
  (now: number) =>
  ({ from, to }: Part): boolean =>
    (to ?? now) > from;

const timeOf = ({ from, to }: Part, now: number): string => duration(((to ?? now) - from) / 1000);

function barOf(part: Part, { axis, now }: Drawn) {
  return {
    kind: part.kind.replace('_', '-'),
    ...placeOf({ from: part.from, to: part.to ?? now }, axis),
    title: `${part.label}: ${timeOf(part, now)}${part.note === '' ? '' : `, ${part.note}`}`,
    live: part.to === null,
    failed: part.failed,
  };
}

/** The parts of a step on one track: what overlaps is stacked, and lies before the attempt that holds it. */
function trackOf(all: readonly Part[], drawn: Drawn) {
  const parts = all.filter(({ from, to }) => isOn({ from, to: to ?? drawn.now }, drawn.axis));
  const { placed, behind, lanes } = lanesOf(parts, drawn.now);
  const height = 2 * MARGIN + lanes * LANE;
  return {
    height,
    bars: [
      ...behind.map((part) => ({ ...barOf(part, drawn), y: MARGIN - 2, height: lanes * LANE + 4 })),
      ...placed.map(({ part, lane }) => ({ ...barOf(part, drawn), y: MARGIN + lane * LANE + 1, height: LANE - 2 })),
    ],
  };
}

/** Of a run with many steps the short parts are drawn only where their step is chosen. */
function drawnParts(parts: readonly Part[], chosen: boolean, { steps, now }: TimelineInput): readonly Part[] {
  const few = steps.length < CROWD ? Math.max(FEWEST_BARS, Math.floor(MOST_BARS / steps.length)) : 1;
  const most = chosen ? Infinity : few;
  return firstByRank(parts, most, ({ from, to }) => from - (to ?? now));
}

const partRow = (part: Part, drawn: Drawn) => ({
  bar: barOf(part, drawn),
  label: part.label,
  word: KINDS[part.kind],
  note: part.note,
  failed: part.failed,
  time: timeOf(part, drawn.now),
  since: part.to === null ? new Date(part.from).toISOString() : null,
  at: `${part.from < drawn.zero ? '−' : '+'}${duration(Math.abs(part.from - drawn.zero) / 1000)}`,
});

const spanOf = ({ started_at: from, completed_at: to }: ShownStep, now: number): Span => ({
  from: Date.parse(from),
  to: to === null ? now : Date.parse(to),
});

/** A step that did not run in this run has no time in it. */
const ranHere = ({ status, raw_response: raw }: ShownStep): boolean =>
  status !== 'skipped' && raw?.loaded === undefined;

/** The bar behind all others: time of which nothing more is recorded stays visible. */
function wholeOf(step: ShownStep, { axis, now }: Drawn, height: number) {
  const span = spanOf(step, now);
  if (!ranHere(step) || span.to <= span.from || !isOn(span, axis)) return null;
  return { ...placeOf(span, axis), live: step.status === 'running' && !step.waits, height };
}

const listed = (parts: readonly Part[], drawn: Drawn) => ({
  parts: parts.slice(0, MOST_ROWS).map((part) => partRow(part, drawn)),
  more: parts.length > MOST_ROWS ? `${parts.length - MOST_ROWS} more parts are not listed` : null,
});

function rowOf(step: ShownStep, parts: Part[], input: TimelineInput, drawn: Drawn) {
  const span = spanOf(step, drawn.now);
  const look = stepLook(step);
  const ran = ranHere(step);
  const time = duration(Math.max(0, span.to - span.from) / 1000);
  const chosen = step.step_name === input.chosen;
  const track = trackOf(drawnParts(parts, chosen, input), drawn);
  const warnings = step.trust_report?.warnings?.length ?? 0;
  return {
    name: step.step_name,
    label: labelOf(step, input.steps),
    nested: step.kind === 'branch' || step.kind === 'fan_out_branch',
    look,
    warnings: warnings === 0 ? null : plural(warnings, 'warning'),
    duration: ran ? time : '–',
    since: step.status === 'running' ? step.started_at : null,
    title: ran ? `${step.step_name}: ${look.word}, ${time}` : `${step.step_name}: ${look.word}`,
    chosen,
    href: input.hrefOf(step.step_name),
    pin: input.pinOf(step),
    whole: wholeOf(step, drawn, track.height - 8),
    track,
    ...listed(chosen ? parts : [], drawn),
  };
}

const zoomWord = ({ zoomed, chosen }: TimelineInput): string => (zoomed ? 'Show the whole run' : `Zoom to ${chosen}`);

/** Pages ask again this often, in milliseconds, so that what goes on grows. */
const growth = ({ from, to }: Span): number => Math.round(Math.min(60_000, Math.max(2_000, (to - from) / 100)));

/** The time of the run, or of its chosen step where the reader looks closer. */
function axisOf({ run, steps, now, chosen, zoomed }: TimelineInput, parts: readonly Part[][]): Span {
  const near = steps.flatMap((step, i) =>
    zoomed && step.step_name !== chosen ? [] : [{ step, parts: parts[i] ?? [] }],
  );
  const spans = near.flatMap(({ step, parts: own }) => [
    ...(ranHere(step) ? [spanOf(step, now)] : []),
    ...own.map(({ from, to }) => ({ from, to: to ?? now })),
  ]);
  const whole = {
    from: Date.parse(run.triggered_at),
    to: run.completed_at === null ? now : Date.parse(run.completed_at),
  };
  const all = zoomed && spans.length > 0 ? spans : [...spans, whole];
  const from = all.reduce((first, span) => Math.min(first, span.from), Infinity);
  return { from, to: all.reduce((last, span) => Math.max(last, span.to), from + 1) };
}

/** Where the time of a run went, step by step on one axis, from stored times. */
export function timelineView(input: TimelineInput) {
  const { run, steps, now } = input;
  const around = { steps, approvals: input.approvals, children: run.children, log: input.log };
  const all = steps.map((step) => partsOf(step, around));
  const queue = queueOf(run, input.log);
  const shown = all.map((parts) => parts.filter(hasLength(now)));
  const waited = queue !== null && hasLength(now)(queue) ? queue : null;
  const drawn = { axis: axisOf(input, shown), now, zero: Date.parse(run.triggered_at) };
  const kinds = new Set([...shown.flat(), ...(waited === null ? [] : [waited])].map(({ kind }) => kind));
  return {
    queue: waited === null ? null : { ...partRow(waited, drawn), track: trackOf([waited], drawn) },
    rows: steps.map((step, i) => rowOf(step, shown[i] ?? [], input, drawn)),
    ticks: ticksOf(drawn.axis),
    zoom: input.chosen === null ? null : { href: input.zoomHref(!input.zoomed), word: zoomWord(input) },
    legend: (Object.keys(KINDS) as PartKind[])
      .filter((kind) => kinds.has(kind))
      .map((kind) => ({ kind: kind.replace('_', '-'), word: KINDS[kind] })),
    grow: run.completed_at === null ? growth(drawn.axis) : null,
  };
}
