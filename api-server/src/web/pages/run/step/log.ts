import { clock, count, exactTime } from '../../format.ts';
import type { LogLine } from '../../../../service/views/run.ts';

const MAX_STEP = 70;
const MAX_RUN = 200;
const LEVELS: Record<string, { tone: string; word: string }> = {
  warn: { tone: 'wait', word: 'warn' },
  warning: { tone: 'wait', word: 'warn' },
  error: { tone: 'bad', word: 'error' },
};

function logOf(lines: LogLine[], most: number, hrefOf: ((step: string) => string) | null) {
  const shown = lines.slice(-most).map((line) => ({
    time: clock(line.ts),
    at: line.ts,
    exact: exactTime(line.ts),
    tone: LEVELS[line.level]?.tone ?? 'quiet',
    level: LEVELS[line.level]?.word ?? line.level,
    event: line.event,
    msg: line.msg,
    step: hrefOf === null ? null : (line.step_name ?? ''),
    href: hrefOf === null || line.step_name === undefined ? null : hrefOf(line.step_name),
  }));
  const left = lines.length - shown.length;
  return { lines: shown, more: left > 0 ? `${count(left)} earlier lines not shown; the API streams them all` : null };
}

export const NO_LINES = {
  noLog: 'No log is stored for this run.',
  notNamed: 'No line of the log of this run names this step.',
} as const;

/** The lines that name a step. */
export const stepLog = (lines: LogLine[], step: string) => ({
  ...logOf(
    lines.filter((line) => line.step_name === step),
    MAX_STEP,
    null,
  ),
  none: lines.length === 0 ? NO_LINES.noLog : NO_LINES.notNamed,
});

/** All lines of a run, each with its step. */
export const runLog = (lines: LogLine[], hrefOf: (step: string) => string) => logOf(lines, MAX_RUN, hrefOf);
