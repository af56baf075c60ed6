import { mkdirSync } from 'node:fs';
import { pino, type Logger } from 'pino';
import { openLogFile } from './log-file.ts';

export interface LoggingConfig {
  level: 'debug' | 'info' | 'warn' | 'error';
  /** Absolute; null writes to stdout only. */
  dir: string | null;
}

export interface Logs {
  log: Logger;
  /** For the lines of runs, which hold no request and no configuration: without redaction, which costs ten times the line. */
  runs: Logger;
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

const OPTIONS = {
  base: undefined,
  messageKey: 'msg',
  timestamp: pino.stdTimeFunctions.isoTime,
  formatters: { level: (label: string) => ({ level: label }) },
  redact: { paths: REDACT, censor: '[redacted]' },
};

/**
 * JSON lines on stdout, and with a folder also `service.log` and `access.log`, rotated at 10 MB with 5 kept
 * (Orchestration 2.13, 8).
 */
export function createLogs({ level, dir }: LoggingConfig, out: NodeJS.WritableStream = process.stdout): Logs {
  const plain = { ...OPTIONS, redact: [], level };
  if (dir === null) {
    const log = pino({ ...OPTIONS, level }, out);
    return { log, runs: pino(plain, gathered(out)), access: undefined, close: () => Promise.resolve() };
  }
  mkdirSync(dir, { recursive: true });
  const service = openLogFile('service.log', dir);
  const requests = openLogFile('access.log', dir);
  const both = pino.multistream([
    { level, stream: out },
    { level, stream: service },
  ]);
  return {
    log: pino({ ...OPTIONS, level }, both),
    runs: pino(plain, gathered(both)),
    access: pino({ ...OPTIONS, level: 'info' }, requests),
    close: async () => void (await Promise.all([service.close(), requests.close()])),
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
