import type { Family, Sample } from './exposition.ts';
import { type Series, STORED_SERIES } from './series.ts';

/** One value of the roll-ups: a histogram has a row for each bucket, not cumulative, under a last label `le`, and `<name>_sum`. */
export interface StoredValue {
  metric: string;
  labels: string[];
  value: number;
}

const PREFIX = 'service_';

/** The roll-ups as metric families; every series has HELP and TYPE, also without a value (Orchestration 6). */
export function storedFamilies(values: readonly StoredValue[]): Family[] {
  const byMetric = Map.groupBy(values, ({ metric }) => metric);
  return STORED_SERIES.map((series) => ({
    name: PREFIX + series.name,
    help: series.help,
    type: series.type,
    samples: series.type === 'counter' ? counterSamples(series, byMetric) : histogramSamples(series, byMetric),
  }));
}

type ByMetric = Map<string, StoredValue[]>;

const named = ({ labels }: Series, values: readonly string[]): Sample['labels'] =>
  labels.map((name, at) => [name, values[at] ?? ''] as const);

function counterSamples(series: Series, byMetric: ByMetric): Sample[] {
  return (byMetric.get(series.name) ?? []).map(({ labels, value }) => ({ labels: named(series, labels), value }));
}

interface Cells {
  labels: readonly string[];
  buckets: Map<string, number>;
}

function histogramSamples(series: Series, byMetric: ByMetric): Sample[] {
  const cells = new Map<string, Cells>();
  for (const { labels, value } of byMetric.get(series.name) ?? []) {
    const own = labels.slice(0, -1);
    const key = JSON.stringify(own);
    const cell = cells.get(key) ?? { labels: own, buckets: new Map() };
    cells.set(key, cell);
    cell.buckets.set(labels.at(-1) ?? '+Inf', value);
  }
  const sums = new Map(
    (byMetric.get(`${series.name}_sum`) ?? []).map(({ labels, value }) => [JSON.stringify(labels), value]),
  );
  return [...cells].flatMap(([key, cell]) => oneHistogram(series, cell, sums.get(key) ?? 0));
}

function oneHistogram(series: Series, { labels, buckets }: Cells, sum: number): Sample[] {
  const base = named(series, labels);
  let total = 0;
  const counted = [...(series.buckets ?? []).map(String), '+Inf'].map((le): Sample => {
    total += buckets.get(le) ?? 0;
    return { suffix: '_bucket', labels: [...base, ['le', le]], value: total };
  });
  return [...counted, { suffix: '_sum', labels: base, value: sum }, { suffix: '_count', labels: base, value: total }];
}
