import type { Config } from '../config/config.ts';
import type { Logs } from '../observability/logger.ts';
import type { Tracing } from '../observability/otel.ts';

interface TracingParts {
  config: Config;
  version: string;
  logs: Logs;
}

/** The SDK is loaded only when tracing is enabled. */
export async function startTracing({ config, version, logs }: TracingParts): Promise<Tracing | null> {
  if (config.otel === null) return null;
  const otel = await import('../observability/otel.ts');
  return otel.startTracing({ config: config.otel, version, log: logs.log });
}
