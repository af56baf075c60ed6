import type { Registry } from 'prom-client';
import { TEAM_SPEND } from '../runs/cost/cost.ts';
import type { Undelivered } from '../notify/undelivered.ts';
import { attentionFamilies, type OpenAttention } from './attention.ts';
import { type Family, renderFamilies } from './exposition.ts';
import { createStoredSeries, type StoredRow } from './stored-series.ts';
import { teamBudgetRatio } from './team-budgets.ts';

export interface MetricsDeps {
  /** The roll-ups that changed since the scrape before, some rows at a time. */
  readCounters(): AsyncIterable<readonly StoredRow[]>;
  /** Active production runs. */
  runsInProgress(): Promise<number>;
  /** Messages that did not reach their channel. */
  undelivered(): Promise<readonly Undelivered[]>;
  /** Runs that nobody has acknowledged, by team. */
  openAttention(): Promise<OpenAttention[]>;
  /** Approvals that wait in this process, by team; an empty name for those without one. */
  approvalsPending(): ReadonlyMap<string, number>;
  /** Monthly budgets by team; empty without prices. */
  teamBudgets: Readonly<Record<string, number>>;
  now(): number;
  /** Names of the webhook sources; any other name counts as `unknown`. */
  sources: readonly string[];
}

export interface Metrics {
  render(): Promise<Buffer>;
  countAuthFailure(reason: 'missing' | 'invalid' | 'forbidden'): void;
  countDelivery(source: string | null, outcome: string): void;
  /** A delivery that is not kept. */
  countDroppedDelivery(source: string | null, outcome: string): void;
}

/** The text of `/metrics`: roll-ups of the store, values of this process, and process health (Orchestration 6). */
export function createMetrics(deps: MetricsDeps): Metrics {
  const processHealth = lazyProcessHealth();
  const failures = new Map<string, number>([
    ['missing', 0],
    ['invalid', 0],
    ['forbidden', 0],
  ]);
  const deliveries = bySource(deps.sources);
  const dropped = bySource(deps.sources);
  const series = createStoredSeries();
  const storedBytes = async () => {
    for await (const rows of deps.readCounters()) series.take(rows);
    return series.bytes();
  };
  const renderNow = async () => {
    // By itself: what else fails must not let the next scrape begin while this one reads.
    const stored = await storedBytes();
    const [health, inProgress, undelivered, open] = await Promise.all([
      processHealth(),
      deps.runsInProgress(),
      deps.undelivered(),
      deps.openAttention(),
    ]);
    const pending = deps.approvalsPending();
    const own = ownFamilies({
      leftOut: series.leftOut(),
      inProgress,
      undelivered,
      pending,
      failures,
      deliveries: deliveries.counts,
      dropped: dropped.counts,
    });
    const budgets = teamBudgetRatio(series.others(TEAM_SPEND), deps.teamBudgets, deps.now());
    const attention = attentionFamilies(open, deps.now());
    return Buffer.concat([...stored, Buffer.from(renderFamilies([...own, ...attention, budgets]) + health)]);
  };
  /** One after the other: a scrape remembers what the one before rendered. All who come before it begins get the same text. */
  let last: Promise<unknown> = Promise.resolve();
  let next: Promise<Buffer> | null = null;
  const renderNext = () => {
    next = null;
    return renderNow();
  };
  return {
    render: () => {
      if (next) return next;
      next = last.then(renderNext);
      last = next.catch(() => undefined);
      return next;
    },
    countAuthFailure: (reason) => failures.set(reason, (failures.get(reason) ?? 0) + 1),
    countDelivery: deliveries.count,
    countDroppedDelivery: dropped.count,
  };
}

type Counts = ReadonlyMap<string, ReadonlyMap<string, number>>;

/** Counts by source and outcome; senders name sources, so that unknown ones share a name. */
function bySource(sources: readonly string[]) {
  const counts = new Map<string, Map<string, number>>();
  const count = (asked: string | null, outcome: string) => {
    const source = asked !== null && sources.includes(asked) ? asked : 'unknown';
    const outcomes = counts.get(source) ?? new Map<string, number>();
    counts.set(source, outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1));
  };
  return { counts, count };
}

/** The library is loaded with the first scrape, to save time and memory at the start. */
function lazyProcessHealth(): () => Promise<string> {
  let registry: Promise<Registry> | undefined;
  const load = async (): Promise<Registry> => {
    const client = await import('prom-client');
    const made = new client.Registry();
    const { user, system } = process.cpuUsage();
    client.collectDefaultMetrics({ register: made, eventLoopMonitoringPrecision: 100 });
    // The library counts CPU time from here on; add what the process has used before.
    const used = { user_seconds: user, system_seconds: system, seconds: user + system };
    for (const [name, microseconds] of Object.entries(used)) {
      const counter = made.getSingleMetric(`process_cpu_${name}_total`);
      if (counter instanceof client.Counter) counter.inc(microseconds / 1e6);
    }
    return made;
  };
  return async () => (await (registry ??= load())).metrics();
}

interface OwnValues {
  leftOut: number;
  inProgress: number;
  undelivered: readonly Undelivered[];
  pending: ReadonlyMap<string, number>;
  failures: ReadonlyMap<string, number>;
  deliveries: Counts;
  dropped: Counts;
}

function ownFamilies({
  leftOut,
  inProgress,
  undelivered,
  pending,
  failures,
  deliveries,
  dropped,
}: OwnValues): Family[] {
  const waiting = pending.size === 0 ? new Map([['', 0]]) : pending;
  return [
    {
      name: 'service_metrics_left_out',
      help: 'Stored combinations of labels for which this text has no room',
      type: 'gauge',
      samples: [{ labels: [], value: leftOut }],
    },
    {
      name: 'service_pipeline_runs_in_progress',
      help: 'Production runs that have not ended',
      type: 'gauge',
      samples: [{ labels: [], value: inProgress }],
    },
    {
      name: 'service_notifications_undelivered',
      help: 'Messages that did not reach their channel so far',
      type: 'gauge',
      samples: undelivered.map(({ channel, state, count }) => ({
        labels: [
          ['channel', channel],
          ['state', state],
        ],
        value: count,
      })),
    },
    {
      name: 'service_human_approvals_pending',
      help: 'Approvals that wait in this process',
      type: 'gauge',
      samples: [...waiting].map(([team, value]) => ({ labels: [['team', team]], value })),
    },
    {
      name: 'service_auth_failures_total',
      help: 'Refused requests by reason',
      type: 'counter',
      samples: [...failures].map(([reason, value]) => ({ labels: [['reason', reason]], value })),
    },
    {
      name: 'service_webhook_deliveries_total',
      help: 'Deliveries to the webhook by source and result, in every stage',
      type: 'counter',
      samples: samplesOf(deliveries),
    },
    {
      name: 'service_deliveries_dropped_total',
      help: 'Deliveries without a run that are not kept in the list of deliveries',
      type: 'counter',
      samples: samplesOf(dropped),
    },
  ];
}

const samplesOf = (counts: Counts): Family['samples'] =>
  [...counts].flatMap(([source, outcomes]) =>
    [...outcomes].map(([outcome, value]) => ({
      labels: [
        ['source', source],
        ['outcome', outcome],
      ] as const,
      value,
    })),
  );
