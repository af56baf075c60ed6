import type { Tracing } from '@signalbox/crds/process/tracing';
import type { Stages } from './stages.ts';

/** Null where tracing is off; the OpenTelemetry modules are then not loaded. */
export async function openTracing({
  config,
  version,
  log,
}: Pick<Stages, 'config' | 'version' | 'log'>): Promise<Tracing | null> {
  const { enabled, exporter, endpoint = null, service_name: serviceName = null } = config.observability.otel;
  if (!enabled) return null;
  const { startTracing } = await import('@signalbox/crds/process/tracing');
  return startTracing({ name: 'signalbox-gateway', version, exporter, endpoint, serviceName, isCall: () => true, log });
}
