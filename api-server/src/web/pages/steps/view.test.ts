import { promptHash } from '@signalbox/crds';
import { expect, test } from 'vitest';
import { calibrate, type Labelled } from '../../../analytics/calibration.ts';
import { promptVersions } from '../../../analytics/prompt-versions.ts';
import { bucketView } from '../../../service/views/analytics/calibration.ts';
import { promptVersionView } from '../../../service/views/analytics/versions.ts';
import { pagesWith } from '../fixtures/pages-with.ts';
import { stepStats } from '../../../analytics/step-stats.ts';
import { snapshotOf } from '../fixtures/fake-deps.ts';
import { stepPageView } from './view.ts';

const NOW = Date.parse('2026-11-21T12:00:00Z');
const RULE = { nMin: 20, binWidth: 0.1 };
const pipeline = (steps: object[]) => ({ name: 'checkout', file: 'c.yaml', text: '', hash: 'h', config: { steps } });
const definitions = (over: Parameters<typeof snapshotOf>[0] = {}) =>
  snapshotOf({
    pipelines: [
      pipeline([
        { name: 'look', executor: 'gateway', agent: 'reader', prompt_template: 'Look.' },
        { name: 'both', parallel: { steps: [{ name: 'Left_1', executor: 'external', agent: 'other' }] } },
        { name: 'each', fan_out: { step: { executor: 'gateway', agent: 'sre', prompt_template: 'Each.' } } },
      ]),
    ],
    steps: [{ name: 'in-library', file: 's.yaml', text: '', hash: 'h', config: { executor: 'gateway' } }],
    ...over,
  });
const edition = (template: string | null, at: number) => ({
  promptHash: promptHash(template ?? 'gone'),
  template,
  firstSeenAt: NOW - at,
  lastSeenAt: NOW,
  runsTotal: at === 60_000 ? 1 : 1_200,
  labelledN: 3,
  pipelines: ['checkout'],
});
const row = (confidence: number, label: Labelled['label'], n: number): Labelled => ({
  agent: 'reader',
  provider: 'anthropic',
  model: 'claude',
  promptHash: promptHash('Look.'),
  agentVersion: 'v1',
  confidence,
  label,
  n,
});
const AROUND = { rule: RULE, now: NOW };
const editions = (templates: (string | null)[]) => {
  const uses = templates.map((text, at) => edition(text, 60_000 * (at + 1)));
  return promptVersions(uses, []).map(promptVersionView);
};
const view = (name: string, rows: Labelled[] = [], templates: (string | null)[] | null = []) =>
  stepPageView(
    name,
    definitions(),
    {
      buckets: calibrate(rows, RULE).map(bucketView),
      versions: templates && editions(templates),
      pipelines: ['checkout'],
      pipeline: null,
      stats: null,
      models: null,
    },
    AROUND,
  );

test.each(['look', 'Left_1', 'each', 'both', 'in-library'])('%s has a page before it ever ran', (name) => {
  expect(view(name, [], null)).toMatchObject({ name, gone: false, ran: false });
});

test('a step that is gone from every definition has a page while it has a past, and a name without either has none', () => {
  expect(view('gone', [], ['x'])).toMatchObject({ gone: true, ran: true, places: [] });
  expect(view('gone', [], null)).toBeNull();
});

test('a page comes without its past rather than not at all', () => {
  expect(stepPageView('look', definitions(), null, AROUND)).toMatchObject({ busy: true, gone: false, ran: false });
});

test('the page says where the step is, and which of its prompts is in use', () => {
  const page = view('look', [], ['Look.', 'Look well.', null]);
  expect(page?.places).toEqual([{ pipeline: 'checkout', href: '/ui/pipelines/checkout', shape: 'gateway · reader' }]);
  expect(page?.versions.rows.map(({ current, open, runs }) => [current, open, runs])).toEqual([
    [true, true, '1 run'],
    [false, false, '1\u202f200 runs'],
    [false, false, '1\u202f200 runs'],
  ]);
  expect(page?.versions.rows[0]?.diff?.map(({ sign, text }) => sign + text)).toEqual(['-Look well.', '+Look.']);
  expect(page?.versions.rows[2]?.text).toBeNull();
});

test('a diagram has a bar for each bin with marks: solid with enough, amber where it overconfident, hollow below', () => {
  const page = view('look', [row(0.95, 1, 12), row(0.95, 0, 12), row(0.85, 1, 20), row(0.2, 0, 3)]);
  const [card] = page?.calibration.open ?? [];
  expect(card?.diagram.bars.map(({ look, n }) => [look, n])).toEqual([
    ['thin', 3],
    ['sure', 20],
    ['over', 24],
  ]);
  expect(card).toMatchObject({
    sentence: 'Runs that say about 0.95 are correct only in 50% of 24 marked cases.',
    tone: 'wait',
    agentHref: '/ui/agents/reader#version-v1',
    marked: '47 marked',
  });
  expect(card?.diagram.rows.at(-1)).toEqual({ range: '0.9 to 1', said: '0.95', share: '50%', n: 24, validated: true });
  expect(card?.diagram.title).toContain('0.2 to 0.3: 0% of 3, too few to count; 0.8 to 0.9: 100% of 20');
});

test('a bucket that several pipelines share names them', () => {
  const from = (pipeline: string) => ({ ...row(0.95, 1, 12), pipeline });
  const shared = view('look', [from('payments'), from('checkout')])?.calibration.open[0];
  expect(shared).toMatchObject({ marked: '24 marked', pooled: 'Marks of 2 pipelines together: checkout, payments.' });
  expect(view('look', [from('payments')])?.calibration.open[0]?.pooled).toBeNull();
  const seven = view('look', [...'gfedcba'].map(from))?.calibration.open[0];
  expect(seven?.pooled).toBe('Marks of 7 pipelines together: a, b, c, d, e and 2 more.');
});

test('a higher share stands higher, none at all is still seen, and bars stay inside of the plot', () => {
  const page = view('look', [row(0.05, 0, 1), row(0.55, 0.5, 1), row(1, 1, 1)]);
  const { bars, plot } = page!.calibration.open[0]!.diagram;
  const heights = bars.map(({ height }) => height);
  expect(heights).toEqual(heights.toSorted((a, b) => a - b));
  expect(heights[0]).toBeGreaterThan(0);
  expect(heights[2]).toBe(plot.bottom - plot.top);
  for (const { x, width } of bars) expect([x >= plot.left, x + width <= plot.right]).toEqual([true, true]);
});

test('without a recommendation the page says whether that is good news or too little of it', () => {
  expect(view('look', [row(0.9, 1, 19)])?.calibration.open[0]?.sentence).toBe(
    'Too few marks to tell: the fullest bin has 19 of the 20 that it needs.',
  );
  expect(view('look', [row(0.9, 1, 20)])?.calibration.open[0]).toMatchObject({ tone: 'good' });
});

test('more than four buckets fold, and more than twenty prompts are named only', () => {
  const rows = Array.from({ length: 6 }, (_, n) => ({ ...row(0.9, 1, n + 1), agentVersion: `v${n}` }));
  const templates = Array.from({ length: 23 }, (_, n) => `edition ${n}`);
  const page = view('look', rows, templates);
  expect([page?.calibration.open.length, page?.calibration.folded.length, page?.calibration.more]).toEqual([
    4,
    2,
    '2 more, with fewer marks',
  ]);
  expect([page?.versions.rows.length, page?.versions.older]).toEqual([20, 3]);
});

test('a name that several pipelines have is shown for one of them at a time', async () => {
  const asked: (string | undefined)[] = [];
  const { get } = await pagesWith({
    promptVersions: [],
    statistics: {
      stepIn: async (name, { pipeline: wanted }) => {
        asked.push(wanted);
        return {
          pipelines: ['checkout', 'deploy'],
          pipeline: wanted ?? 'checkout',
          stats: stepStats(name, 'USD', { ended: [], running: 0, labels: [], p95: null }),
          models: [],
        };
      },
    },
  });
  const first = (await get('/ui/steps/look')).body;
  expect(first).toContain('those of checkout.');
  const other = (await get('/ui/steps/look?pipeline=deploy')).body;
  expect(other).toContain('those of deploy.');
  expect(other).toMatch(/href="\/ui\/steps\/look\?pipeline&#x3D;deploy" aria-current="true"/);
  expect(asked).toEqual([undefined, 'deploy']);
});
