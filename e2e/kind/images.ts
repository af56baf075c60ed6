import { join } from 'node:path';
import { run } from './run.ts';

/** Two tags of one image: what the upgrade goes from and to. */
export const TAGS = ['e2e-1', 'e2e-2'] as const;
export const MONITORING_IMAGE = 'signalbox-e2e/monitoring:1';

export async function buildSignalbox(): Promise<void> {
  await run('docker', ['build', ...TAGS.flatMap((tag) => ['-t', `signalbox:${tag}`]), '.']);
}

/** Alertmanager and Prometheus as Debian packages them, in one image. */
export async function buildMonitoring(): Promise<void> {
  await run('docker', ['build', '-t', MONITORING_IMAGE, join(import.meta.dirname, 'monitoring')]);
}
