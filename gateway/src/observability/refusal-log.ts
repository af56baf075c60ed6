import { createFloodGuard } from '../tools/flood-guard.ts';
import type { Log } from './log.ts';

/** In a minute; who needs no token to be refused could else fill the log. The metric counts them all. */
const LIMITS = { windowMs: 60_000, maxMessages: 100, maxBytes: Infinity };

/** Logs refused requests, up to a bound. */
export function createRefusalLog(log: Pick<Log, 'info'>, now: () => number = () => performance.now()) {
  const mayLog = createFloodGuard(LIMITS, now);
  return (fields: object): void => {
    if (mayLog(0)) log.info(fields, 'request refused');
  };
}
