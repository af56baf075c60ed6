import type { LogLine } from '../../../../service/views/run.ts';
import type { ShownStep } from '../step/shown-step.ts';
import { ATTEMPT_NAMES, part, type Part, type PartKind } from './part.ts';

const ms = (iso: string): number => Date.parse(iso);
const QUEUED = new Set(['queued', 'backend_full']);
/** Lines that an agent's backend wrote. */
const OF_BACKEND = new Set([
  ...QUEUED,
  'started',
  'llm_call',
  'llm_retry',
  'model_fallback',
  'tool_call',
  'tool_result',
  'tool_denied',
]);
const OPINIONS = { verifier_asked: 'verifier', grounding_asked: 'grounding' } as const;
const EXECUTORS: Partial<Record<ShownStep['executor'], PartKind>> = {
  gateway: 'agent',
  external: 'agent',
  webhook: 'webhook',
  pipeline: 'sub_run',
};

/** Where the time of a step that still runs has gone so far, from the lines of its log; its row has them at its end. */
export function liveParts(step: ShownStep, log: readonly LogLine[]): Part[] {
  const lines = log.filter(({ step_name: name }) => name === step.step_name);
  const resumed = lines.findLast(({ event }) => event === 'step_resumed');
  const since = resumed === undefined ? lines : lines.slice(lines.indexOf(resumed));
  return [
    ...(resumed === undefined ? [] : [beforeRestart(step, resumed)]),
    ...attempts(step, since, resumed?.ts ?? step.started_at),
    ...queues(since),
    ...calls(since),
    ...secondOpinions(since),
  ];
}

const beforeRestart = ({ started_at: at }: ShownStep, { ts }: LogLine): Part =>
  part({ kind: 'restart', label: 'Before the service started again', from: ms(at), to: ms(ts) });

/** The attempts: each ends with a retry, an iteration or the first question about its answer. */
function attempts(step: ShownStep, lines: readonly LogLine[], begun: string): Part[] {
  const kind = EXECUTORS[step.executor];
  if (kind === undefined) return [];
  const label = ATTEMPT_NAMES[kind] ?? step.agent ?? step.step_name;
  const found: Part[] = [];
  let from = ms(begun);
  const end = (to: number | null, more: Partial<Part>) =>
    found.push(part({ kind, label, from, to, holds: kind === 'agent', ...more }));
  for (const line of lines) {
    const at = ms(line.ts);
    if (line.event in OPINIONS || line.event === 'check_ran') {
      end(at, {});
      return found;
    }
    if (line.event === 'step_iteration') end(at, {});
    else if (line.event === 'step_retry') {
      end(at, { note: line.msg, failed: true });
      const wait = typeof line['delay_ms'] === 'number' ? line['delay_ms'] : 0;
      found.push(part({ kind: 'pause', label: 'Pause before the next attempt', from: at, to: at + wait }));
      from = at + wait;
      continue;
    } else continue;
    from = at;
  }
  end(null, {});
  return found;
}

function queues(lines: readonly LogLine[]): Part[] {
  const found: Part[] = [];
  let from: number | null = null;
  for (const { event, ts } of lines) {
    if (!OF_BACKEND.has(event)) continue;
    if (QUEUED.has(event)) from ??= ms(ts);
    else if (from !== null) {
      found.push(part({ kind: 'queue', label: 'Queue of the backend', from, to: ms(ts) }));
      from = null;
    }
  }
  return from === null ? found : [...found, part({ kind: 'queue', label: 'Queue of the backend', from, to: null })];
}

const text = (value: unknown): string => (typeof value === 'string' ? value : '');
const took = (value: unknown): number => (typeof value === 'number' && value > 0 ? value : 0);

/** Calls of models, and of tools, which may not have answered yet. */
const calls = (lines: readonly LogLine[]): Part[] =>
  lines.flatMap((line, i) => {
    const at = ms(line.ts);
    const name = [text(line['server']), text(line['tool'])].filter((one) => one !== '').join(' / ');
    if (line.event === 'llm_call')
      return [part({ kind: 'model', label: text(line['model']), from: at - took(line['duration_ms']), to: at })];
    if (line.event !== 'tool_call') return [];
    const answer = lines.slice(i).find(({ event, call_id: id }) => event === 'tool_result' && id === line['call_id']);
    const to = answer === undefined ? null : ms(answer.ts);
    return [part({ kind: 'tool', label: name, from: at, to, failed: answer?.['is_error'] === true })];
  });

const secondOpinions = (lines: readonly LogLine[]): Part[] =>
  lines.flatMap(({ event, ts, agent }, i) => {
    if (!(event in OPINIONS)) return [];
    const kind = OPINIONS[event as keyof typeof OPINIONS];
    const ran = lines.slice(i).find((line) => line.event === `${kind}_ran`);
    const label = `${kind === 'verifier' ? 'Verifier' : 'Grounding judge'}: ${text(agent)}`;
    return [part({ kind, label, from: ms(ts), to: ran === undefined ? null : ms(ran.ts) })];
  });
