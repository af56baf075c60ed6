import { mkdirSync } from 'node:fs';
import { pino, type Logger } from 'pino';
import type { RunEvent } from '../runs/state/model.ts';
import { openLogFile } from './log-file.ts';

export interface LoggingConfig {
  level: 'debug' | 'info' | 'warn' | 'error';
  /** Absolute; null writes to stdout only. */
  dir: string | null;
}

export interface Logs {
  log: Logger;
  /** For what goes wrong with runs: no request and no configuration, so without redaction, which costs ten times the line. */
  runs: Logger;
  /** One line an event of a run, made at once: a run has half a dozen, and they leave together with those of other runs. */
  event(event: RunEvent): void;
  /** One line a request; only where `dir` is set. */
  access: Logger | undefined;
  close(): Promise<void>;
}

/** Names under which a secret might be logged by mistake, at the top and one level down. */
const SECRET_KEYS = [
  'token',
  'authorization',
  'cookie',
  'password',
  'secret',
  'session_secret',
  'api_key',
  'key_password',
];
const REDACT = SECRET_KEYS.flatMap((key) => [key, `*.${key}`, `*.headers.${key}`]);

const SERVICE = 'api-server';
const OPTIONS = {
  base: { service: SERVICE },
  messageKey: 'msg',
  timestamp: () => `,"ts":"${new Date().toISOString()}"`,
  formatters: { level: (label: string) => ({ level: label }) },
  redact: { paths: REDACT, censor: '[redacted]' },
};

/**
 * JSON lines on stdout, and with a folder also `service.log` and `access.log`, rotated at 10 MB with 5 kept
 * (Orchestration 2.13, 8).
 */
export function createLogs({ level, dir }: LoggingConfig, out: Out = standardOutput()): Logs {
  const plain = { ...OPTIONS, redact: [], level };
  if (dir === null) {
    const log = pino({ ...OPTIONS, level }, out);
    const lines = gathered(out);
    const event = eventWriter(level, lines);
    return { log, runs: pino(plain, lines), event, access: undefined, close: () => Promise.resolve() };
  }
  mkdirSync(dir, { recursive: true });
  const service = openLogFile('service.log', dir);
  const requests = openLogFile('access.log', dir);
  const both = pino.multistream([
    { level, stream: out },
    { level, stream: service },
  ]);
  const lines = gathered({ write: (text) => [out, service].map((stream) => stream.write(text)) });
  return {
    log: pino({ ...OPTIONS, level }, both),
    runs: pino(plain, lines),
    event: eventWriter(level, lines),
    access: pino({ ...OPTIONS, level: 'info' }, requests),
    close: async () => void (await Promise.all([service.close(), requests.close()])),
  };
}

const GRAVITY = { debug: 0, info: 1, warn: 2, error: 3 } as const;

type Out = Parameters<typeof pino>[1] & { write(text: string): unknown };

/** Written at once and in full also where it is a pipe that is slow to read, with none of a stream's buffers between. */
const standardOutput = (): Out => pino.destination({ fd: 1, sync: true });

/** What fails in a run is for the pipeline's owner, not for the operator: a run's error is a warning of the service. */
function eventWriter(least: LoggingConfig['level'], lines: { write(text: string): void }): Logs['event'] {
  return ({ seq: _seq, ts, level, ...fields }) => {
    const gravity = level === 'error' ? 'warn' : level;
    if (GRAVITY[gravity] < GRAVITY[least]) return;
    lines.write(`${JSON.stringify({ level: gravity, ts, service: SERVICE, ...fields })}\n`);
  };
}

/** The lines of one turn of the event loop leave in one write: under load a run has several lines and a write is most of their cost. */
function gathered(out: { write(text: string): unknown }): { write(text: string): void } {
  let waiting = '';
  return {
    write: (text) => {
      if (waiting === '') {
        setImmediate(() => {
          out.write(waiting);
          waiting = '';
        });
      }
      waiting += text;
    },
  };
}
