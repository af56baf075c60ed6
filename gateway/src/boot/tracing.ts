import type { GatewayConfig } from '../config/schema.ts';
import type { Log } from '../observability/log.ts';
import type { Tracing } from '../observability/otel.ts';

interface TracingOptions {
  config: GatewayConfig;
  version: string;
  log: Log;
}

/** Null where tracing is off; the OpenTelemetry modules are then not loaded. */
export async function openTracing({ config, version, log }: TracingOptions): Promise<Tracing | null> {
  const { enabled, exporter, endpoint, service_name: serviceName } = config.observability.otel;
  if (!enabled) return null;
  const { startTracing } = await import('../observability/otel.ts');
  return startTracing({ exporter, endpoint, serviceName, version, log });
}
