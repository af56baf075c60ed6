import { duration } from '../../format.ts';
import { stepLook } from '../../status.ts';
import { itemText } from './branches.ts';
import { readTrace } from '../step/trace.ts';
import type { ShownStep } from '../step/shown-step.ts';

const percent = (part: number, whole: number): string => `${((100 * part) / whole).toFixed(3)}%`;

interface Span {
  from: number;
  to: number;
}

const KINDS: Record<string, string> = { llm_call: 'model', tool_call: 'tools' };

/** Model and tool calls of a step on the time axis; the rest of its bar is waiting. */
function segments(step: ShownStep, bar: Span, whole: Span) {
  const total = whole.to - whole.from;
  return readTrace(step.raw_response?.trace).flatMap(({ type, startedAt, seconds }) => {
    const kind = KINDS[type];
    if (kind === undefined || startedAt === null) return [];
    const from = Math.min(Math.max(startedAt, bar.from), bar.to);
    const to = Math.min(from + seconds * 1000, bar.to);
    return [{ kind, x: percent(from - whole.from, total), width: percent(to - from, total) }];
  });
}

const STEPS = [
  0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14_400, 43_200,
  86_400,
];

/** At most six round marks on the time axis. */
function ticks(total: number) {
  const seconds = total / 1000;
  const step = STEPS.find((candidate) => seconds / candidate <= 5) ?? seconds / 5;
  const count = Math.floor(seconds / step);
  return Array.from({ length: count + 1 }, (_, i) => ({
    x: percent(i * step, seconds),
    label: i === 0 ? '0' : duration(i * step).replace('.0 s', ' s'),
  }));
}

/** A fan-out branch is labelled with its index and item. */
function labelOf({ kind, step_name: name }: ShownStep, steps: ShownStep[]): string {
  if (kind !== 'fan_out_branch') return name;
  const at = name.lastIndexOf('/');
  const group = steps.find(({ step_name }) => step_name === name.slice(0, at));
  return `#${name.slice(at + 1)} ${itemText(group?.raw_response?.items?.[Number(name.slice(at + 1))], 40)}`.trimEnd();
}

/** Steps over time on one axis, in the order in which they began. */
export function waterfallView(
  steps: ShownStep[],
  at: {
    from: string;
    to: string | null;
    now: number;
    chosen: string | null;
    hrefOf: (step: string) => string;
    pinOf: (step: ShownStep) => string | null;
  },
) {
  const spanOf = (step: ShownStep): Span => ({
    from: Date.parse(step.started_at),
    to: step.completed_at === null ? at.now : Date.parse(step.completed_at),
  });
  const start = Math.min(Date.parse(at.from), ...steps.map((step) => spanOf(step).from));
  const end = Math.max(at.to === null ? at.now : Date.parse(at.to), ...steps.map((step) => spanOf(step).to), start + 1);
  const whole = { from: start, to: end };
  const rows = steps.map((step) => {
    const bar = spanOf(step);
    const look = stepLook(step);
    const time = duration(Math.max(0, bar.to - bar.from) / 1000);
    return {
      name: step.step_name,
      label: labelOf(step, steps),
      nested: step.kind === 'branch' || step.kind === 'fan_out_branch',
      look,
      duration: step.status === 'skipped' ? '–' : time,
      title: `${step.step_name}: ${look.word}, ${time}`,
      chosen: step.step_name === at.chosen,
      href: at.hrefOf(step.step_name),
      pin: at.pinOf(step),
      x: percent(bar.from - start, end - start),
      width: percent(Math.max((end - start) / 250, bar.to - bar.from), end - start),
      live: step.completed_at === null && step.status === 'running' && !step.waits,
      segments: segments(step, bar, whole),
    };
  });
  return { rows, ticks: ticks(end - start) };
}
