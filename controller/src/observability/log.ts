import { pino } from 'pino';

/** One JSON object a line on stdout (Design 11). */
export interface Log {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

export function createLog(role: 'sync' | 'manager'): Log {
  return pino(
    {
      base: { service: 'controller', role },
      timestamp: () => `,"ts":"${new Date().toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
    },
    pino.destination({ fd: 1, sync: true }),
  );
}
