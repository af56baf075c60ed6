import { type DestinationStream, pino } from 'pino';

/** One JSON object a line on stdout. */
export interface Log {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** Writes at once, so that the last line before an exit is not lost. */
export function createLog(
  role: 'sync' | 'manager',
  output: DestinationStream = pino.destination({ fd: 1, sync: true }),
): Log {
  return pino(
    {
      base: { service: 'controller', role },
      timestamp: () => `,"ts":"${new Date().toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
    },
    output,
  );
}
