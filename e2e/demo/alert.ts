import { createHash } from 'node:crypto';

export interface Alert {
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

const STARTED = Date.now();

/** What Alertmanager (webhook version 4) sends for one firing alert. The fingerprint follows the labels, as there. */
export function alertmanagerPayload({ labels, annotations }: Alert, startsAt = new Date(STARTED)) {
  const sorted = Object.entries(labels).toSorted(([a], [b]) => (a < b ? -1 : 1));
  const fingerprint = createHash('sha256').update(JSON.stringify(sorted)).digest('hex').slice(0, 16);
  return {
    version: '4',
    groupKey: `{}:{alertname="${labels.alertname}"}`,
    truncatedAlerts: 0,
    status: 'firing',
    receiver: 'signalbox',
    groupLabels: { alertname: labels.alertname },
    commonLabels: labels,
    commonAnnotations: annotations,
    externalURL: 'http://alertmanager.example.com',
    alerts: [
      {
        status: 'firing',
        labels,
        annotations,
        startsAt: startsAt.toISOString(),
        endsAt: '0001-01-01T00:00:00Z',
        generatorURL: 'http://prometheus.example.com/graph',
        fingerprint,
      },
    ],
  };
}

/** `demo_run` makes the alert of each start different; without it a second start would be deduplicated. */
const demoRun = STARTED.toString(36);

export const HIGH_LOAD: Alert = {
  labels: { alertname: 'HostHighLoad', severity: 'critical', instance: 'web-1', team: 'platform', demo_run: demoRun },
  annotations: { summary: 'The load of web-1 is above 4 per CPU for 10 minutes' },
};

export const DISK_FILLING: Alert = {
  labels: { alertname: 'DiskWillFillSoon', severity: 'warning', instance: 'db-1', mountpoint: '/', demo_run: demoRun },
  annotations: { summary: 'The disk of db-1 fills up within 24 hours at this rate' },
};
