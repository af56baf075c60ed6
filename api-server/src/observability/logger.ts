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
  /** For failures of runs. These lines contain no request and no configuration, so they skip the redaction, which is expensive. */
  runs: Logger;
  /** One line per event of a run, whose JSON is given; the lines of one turn of the event loop are written together. */
  event(event: RunEvent, json: string): void;
  /** One line per request; only where `dir` is set. */
  access: Logger | undefined;
  close(): Promise<void>;
}

/** Names of fields that may contain a secret, at the top and one level down. */
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

const RANK = { debug: 0, info: 1, warn: 2, error: 3 } as const;

type Out = Parameters<typeof pino>[1] & { write(text: string): unknown };

/** Writes synchronously and completely, also to a slow pipe, without the buffer of a stream. */
const standardOutput = (): Out => pino.destination({ fd: 1, sync: true });

/** A failure in a run concerns the owner of the pipeline, not the operator: the service logs it as a warning. */
function eventWriter(least: LoggingConfig['level'], lines: { write(text: string): void }): Logs['event'] {
  const begin = `{"service":${JSON.stringify(SERVICE)},`;
  return (event, json) => {
    const level = event.level === 'error' ? 'warn' : event.level;
    if (RANK[level] < RANK[least]) return;
    const line = level === event.level ? json : JSON.stringify({ ...event, level });
    lines.write(`${begin}${line.slice(1)}\n`);
  };
}

/** Writes the lines of one turn of the event loop together: under load the write is most of the cost of a line. */
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
