import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { createMetrics } from '../../controller/src/observability/metrics.ts';
import { STORED_SERIES } from '../../api-server/src/observability/series.ts';
import { createMetrics as createServiceMetrics } from '../../api-server/src/observability/metrics.ts';
import { Metrics } from '../../gateway/src/observability/metrics.ts';
import { ROOT } from '../support/start-service.ts';

/** The names of the series in an exposition, with the suffixes of histograms. */
function namesOf(exposition: string): string[] {
  return [...exposition.matchAll(/^# TYPE (\S+) (\S+)$/gm)].flatMap(([, name = '', type]) =>
    type === 'histogram' ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name],
  );
}

async function expositions(): Promise<string[]> {
  const service = createServiceMetrics({
    readCounters: async function* () {
      yield [];
    },
    runsInProgress: async () => 0,
    undelivered: async () => [],
    openAttention: async () => [],
    approvalsPending: () => new Map(),
    teamBudgets: {},
    now: Date.now,
    sources: [],
  });
  const gateway = new Metrics();
  gateway.readFrom({
    activeRuns: () => 0,
    queuedRuns: () => 0,
    waitingApprovals: () => 0,
    agents: () => ['a'],
    namespaceOf: () => null,
    runsByAgent: () => new Map(),
    connections: () => 0,
    servers: () => [],
    pods: () => [],
  });
  return [String(await service.render()), await gateway.text(), (await createMetrics().read()).text];
}

const served = async (): Promise<Set<string>> => new Set((await expositions()).flatMap(namesOf));

const asked = (expression: string) => expression.match(/\b(service|gateway|controller)_[a-z_]+/g) ?? [];

interface Dashboard {
  uid: string;
  panels: { title: string; targets: { expr: string }[] }[];
  templating: { list: { query: unknown }[] };
}

const DASHBOARDS = join(ROOT, 'config/grafana');

test('every dashboard asks only for series that are served', async () => {
  const names = await served();
  const files = readdirSync(DASHBOARDS).filter((name) => name.endsWith('.json'));
  expect(files).toHaveLength(4);
  for (const file of files) {
    const dashboard = JSON.parse(readFileSync(join(DASHBOARDS, file), 'utf8')) as Dashboard;
    const expressions = [
      ...dashboard.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)),
      ...dashboard.templating.list.map(({ query }) => JSON.stringify(query)),
    ];
    const unknown = expressions.flatMap(asked).filter((name) => !names.has(name));
    expect({ file, unknown }).toEqual({ file, unknown: [] });
  }
});

const HISTOGRAM = /_(bucket|sum|count)$/;

test('every series has a panel in a dashboard', async () => {
  const panels = readdirSync(DASHBOARDS).flatMap((file) => {
    const dashboard = JSON.parse(readFileSync(join(DASHBOARDS, file), 'utf8')) as Dashboard;
    return dashboard.panels.flatMap(({ targets }) => targets.flatMap(({ expr }) => asked(expr)));
  });
  const plotted = new Set(panels.map((name) => name.replace(HISTOGRAM, '')));
  const own = [...(await served())].filter((name) => /^(service|gateway|controller)_/.test(name));
  expect(own.map((name) => name.replace(HISTOGRAM, '')).filter((name) => !plotted.has(name))).toEqual([]);
});

test('every alert rule asks only for series that are served, and says what to do', async () => {
  const names = await served();
  const { groups } = parse(readFileSync(join(ROOT, 'charts/signalbox/files/alert-rules.yaml'), 'utf8')) as {
    groups: { rules: { alert: string; expr: string; labels: object; annotations: { summary: string } }[] }[];
  };
  for (const { alert, expr, labels, annotations } of groups.flatMap(({ rules }) => rules)) {
    const unknown = asked(expr).filter((name) => !names.has(name));
    expect({ alert, unknown, any: asked(expr).length > 0 }).toEqual({ alert, unknown: [], any: true });
    expect(labels).toHaveProperty('severity');
    expect(annotations.summary.length).toBeGreaterThan(10);
  }
});

/** The rows of the page's tables of series: names, type and labels. */
function documented() {
  const page = readFileSync(join(ROOT, 'docs/metrics.md'), 'utf8');
  const quoted = (cell = '') => [...cell.matchAll(/`([^`]+)`/g)].map(([, text = '']) => text);
  return page.split('\n').flatMap((line) => {
    const [, names, type = '', labels] = line.split('|');
    const series = quoted(names).filter((name) => /^(service|gateway|controller)_/.test(name));
    return series.map((name) => ({ name, type: type.trim(), labels: quoted(labels) }));
  });
}

test('docs/metrics.md has every series that is served, with its type, and no other', async () => {
  const types = (await expositions()).flatMap((text) => [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)]);
  const own = types.filter(([, name = '']) => /^(service|gateway|controller)_/.test(name));
  const told = documented().map(({ name, type }) => `${name} ${type}`);
  expect(told.toSorted()).toEqual(own.map(([, name, type]) => `${name} ${type}`).toSorted());
});

test('docs/metrics.md has the labels of every stored series, in their order', () => {
  const pages = new Map(documented().map(({ name, labels }) => [name, labels]));
  for (const { name, labels } of STORED_SERIES) expect([name, pages.get(`service_${name}`)]).toEqual([name, labels]);
});
