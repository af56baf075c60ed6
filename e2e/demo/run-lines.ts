/** Turns the events of a run's stream into the lines of the terminal. Pure: an event in, lines out. */
import { blue, bold, clip, dim, green, red, seconds, terminalWidth, violet, wrap, yellow } from './terminal.ts';

/** One frame of the stream (`/ui/runs/{id}/stream`); `type` is set on the last one only. */
export interface Frame {
  readonly type?: string;
  readonly status?: string;
  readonly ts?: string;
  readonly event?: string;
  readonly msg?: string;
  readonly step_name?: string;
  readonly [field: string]: unknown;
}

const INDENT = '    ';
const column = (text: string, width: number) => clip(text, width).padEnd(width);
const numberOf = (value: unknown) => (typeof value === 'number' ? value : null);

/** Events that are printed with their own message. */
const NOTED = new Set(['tool_denied', 'model_fallback', 'llm_retry', 'step_retry', 'output_repair']);

/** What a terminal remembers between two events. */
export class RunLines {
  private readonly startedAt = new Map<string, number>();

  lines(frame: Frame): string[] {
    const event = frame.event ?? '';
    if (event === 'tool_result') return [toolLine(frame)];
    if (NOTED.has(event)) return note(yellow('!'), frame.msg ?? event);
    return event.startsWith('step_') ? this.step(frame, event) : [];
  }

  private step(frame: Frame, event: string): string[] {
    const name = frame.step_name ?? '';
    const at = Date.parse(frame.ts ?? '');
    if (event === 'step_skipped') return ['', `${dim('○')} ${column(name, 14)} ${dim('skipped')}`];
    if (event !== 'step_started' && event !== 'step_resumed') return this.end(frame, at);
    this.startedAt.set(name, at);
    return ['', `${blue('●')} ${bold(column(name, 14))} ${dim(agentOf(frame))}`];
  }

  private end(frame: Frame, at: number): string[] {
    const took = at - (this.startedAt.get(frame.step_name ?? '') ?? at);
    const passed = frame.event === 'step_completed';
    const mark = passed ? green('✓') : frame.event === 'step_failed' ? red('✗') : violet('◆');
    const gate = gateLine(frame);
    const verdict = gate === '' ? statusOf(frame) : gate;
    return [`${INDENT}${mark} ${verdict}  ${dim(seconds(took))}`];
  }
}

const agentOf = ({ executor, agent }: Frame) =>
  [executor, agent].filter((part) => typeof part === 'string').join(' · ');

const statusOf = ({ event }: Frame) => (event ?? '').replace('step_', '');

function gateLine({ trust, confidence, threshold }: Frame): string {
  const value = numberOf(trust) ?? numberOf(confidence);
  const limit = numberOf(threshold);
  if (value === null) return '';
  const paint = limit === null || value >= limit ? green : violet;
  const verdict = limit === null ? '' : value >= limit ? `  passes ${limit.toFixed(2)}` : `  below ${limit.toFixed(2)}`;
  return `trust ${paint(`${bar(value, limit)} ${value.toFixed(2)}`)}${verdict}`;
}

/** Ten cells; the threshold is the cell with a notch. */
function bar(value: number, threshold: number | null): string {
  const notch = threshold === null ? -1 : Math.min(9, Math.floor(threshold * 10));
  return Array.from({ length: 10 }, (_, cell) => {
    const filled = value * 10 >= cell + 0.5;
    if (cell === notch) return filled ? '╋' : '┼';
    return filled ? '━' : '╌';
  }).join('');
}

function toolLine({ server, tool, result, is_error: isError, duration_ms: took }: Frame): string {
  const name = column(`${String(server)}/${String(tool)}`, 24);
  const time = typeof took === 'number' ? `${Math.round(took)} ms`.padStart(8) : '';
  const room = terminalWidth() - INDENT.length - 24 - 8 - 8;
  return `${INDENT}${isError ? red('✗') : dim('→')} ${name}${time}  ${dim(clip(readable(String(result ?? '')), room))}`;
}

/** The first numbers and words of a JSON answer, without its punctuation. */
function readable(text: string): string {
  return text
    .replaceAll(/["{}[\]]/g, '')
    .replaceAll(':', ' ')
    .replaceAll(',', ', ');
}

const note = (mark: string, text: string) =>
  wrap(text, terminalWidth() - 10).map((line, index) => `${INDENT}${index === 0 ? mark : ' '} ${dim(line)}`);
