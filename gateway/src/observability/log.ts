import { pino } from 'pino';

/** One JSON object a line on stdout. */
export interface Log {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

export function createLog(level: string, service = 'gateway'): Log {
  return pino(
    {
      level,
      base: { service },
      timestamp: () => `,"ts":"${new Date().toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
    },
    pino.destination({ fd: 1, sync: true }),
  );
}
