import { promptHash } from '@signalbox/crds';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Outcome } from '../../runs/state/model.ts';
import { type DefinitionServer, startDefinitionServer } from '../fixtures/definitions.ts';
import { NOW } from '../fixtures/store.ts';
import { pagesWith } from '../pages/fixtures/pages-with.ts';

const PROMPT = 'Look at {{summary}}';
const CHECKOUT = `name: checkout
stage: production
readiness: {accuracy: {min_marked: 1}}
steps:
  - {name: look, executor: gateway, agent: investigator, prompt_template: "${PROMPT}"}
`;
const HOUR = 3_600_000;
const WORTH: Record<Outcome, number> = { correct: 1, partial: 0.5, incorrect: 0 };

/** Outcomes of which any may be missing; `passed`: whether the checks of the execution passed. */
interface History {
  run: Outcome | null;
  branches: { step: Outcome | null; passed: boolean }[];
}
const outcome = fc.constantFrom<(Outcome | null)[]>(null, 'correct', 'partial', 'incorrect');
const history: fc.Arbitrary<History> = fc.record({
  run: outcome,
  branches: fc.array(fc.record({ step: outcome, passed: fc.boolean() }), { minLength: 1, maxLength: 3 }),
});

/** The definition once more, by hand: of an execution, and of a run. */
const ofExecution = ({ step, passed }: History['branches'][number], run: Outcome | null) =>
  step ?? (passed ? run : 'incorrect');
const ofRun = ({ run, branches }: History) => {
  const own = branches.map((branch) => ofExecution(branch, null)).filter((label) => label !== null);
  return run ?? own.at(-1) ?? null;
};
const figures = (labels: (Outcome | null)[]) => {
  const known = labels.filter((label) => label !== null);
  const mean = known.reduce((sum, label) => sum + WORTH[label], 0) / known.length;
  return { n: known.length, mean: known.length === 0 ? null : mean };
};
const figureOf = ({ accuracy }: { accuracy: { total: number; mean_label: number | null } }) => ({
  n: accuracy.total,
  mean: accuracy.mean_label,
});

async function record(server: DefinitionServer, runs: readonly History[]) {
  for (const [n, { run, branches }] of runs.entries()) {
    const at = { triggered_at: NOW - HOUR - n, completed_at: NOW - HOUR };
    const id = await server.store.addRun(n + 1, at);
    for (const [index, { step, passed }] of branches.entries()) {
      const started_at = NOW - HOUR + index;
      const values = { started_at, completed_at: started_at + 1, prompt_hash: promptHash(PROMPT), step_index: index };
      // Branches count under the name of their step.
      const name = branches.length === 1 ? 'look' : `look/${index}`;
      await server.store.addStep(id, name, { ...values, deterministic_passed: passed ? 1 : 0 });
      if (step) await server.send('POST', `/runs/${id}/steps/${name}/feedback`, { outcome: step }, 'operator');
    }
    if (run) await server.send('POST', `/runs/${id}/feedback`, { outcome: run }, 'operator');
  }
}

const open = () => startDefinitionServer({ fill: (disk) => disk.write('pipelines/checkout.yaml', CHECKOUT) });

test('every place that shows an accuracy of one pipeline shows the same, and says what it counts', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(history, { minLength: 5, maxLength: 15 }), async (runs) => {
      const server = await open();
      try {
        await record(server, runs);
        const get = async (url: string) => (await server.send('GET', url, undefined, 'viewer')).body;
        const byRun = figures(runs.map(ofRun));
        const byExecution = figures(runs.flatMap((run) => run.branches.map((one) => ofExecution(one, run.run))));
        const signal = new AbortController().signal;
        const query = { timeRange: '7d', stage: 'production' } as const;
        const insights = await server.services.statistics.insights(query, signal);
        const step = await get('/steps/look/stats');
        const ofRuns = [
          await get('/pipelines/checkout/stats'),
          (await get('/stats/pipelines')).pipelines[0],
          insights.now,
          insights.pipelines[0],
        ];
        const ofExecutions = [step, (await get('/steps/look/models')).breakdown[0], step.pipelines[0]];
        for (const one of ofRuns) expect([one.accuracy.counts, figureOf(one)]).toEqual(['runs', byRun]);
        for (const one of ofExecutions)
          expect([one.accuracy.counts, figureOf(one)]).toEqual(['executions', byExecution]);
        const points = insights.points.reduce((sum, { figures: { accuracy } }) => sum + accuracy.total, 0);
        expect(points).toBe(byRun.n);
      } finally {
        await server.close();
      }
    }),
    { numRuns: 6 },
  );
});

test('readiness, metrics and pages agree with the statistics of a pipeline', async () => {
  const server = await open();
  const outcomes: History[] = [
    { run: null, branches: [{ step: 'correct', passed: false }] },
    { run: 'partial', branches: [{ step: null, passed: true }] },
    { run: 'correct', branches: [{ step: null, passed: false }] },
    { run: null, branches: [{ step: null, passed: false }] },
    { run: null, branches: [{ step: null, passed: true }] },
    { run: 'correct', branches: [{ step: 'partial', passed: true }] },
    { run: 'correct', branches: [{ step: null, passed: true }] },
  ];
  try {
    await record(server, outcomes);
    // Of executions: 1, 1/2, 0, 0, 1/2, 1. Of runs: 1, 1/2, 1, 0, 1, 1.
    const { body } = await server.send('GET', '/pipelines/checkout/promotion-readiness', undefined, 'viewer');
    expect(body.steps[0].tiers.accuracy).toMatchObject({
      marked: 6,
      accuracy: 0.5,
      correct: 2,
      partial: 2,
      incorrect: 2,
    });
    const { statistics } = server.services;
    const { get } = await pagesWith({
      statistics,
      definitions: { pipelines: [{ name: 'checkout', file: 'c.yaml', text: '', hash: 'h', config: { steps: [] } }] },
      promptVersions: [],
      readiness: body,
    });
    const runs = '6 runs labelled: 4 correct, 1 partial, 1 incorrect';
    for (const page of ['/ui/insights', '/ui/pipelines/checkout']) {
      const text = (await get(page)).body;
      expect(text).toContain('75.0%');
      expect(text).toContain(runs);
    }
    const text = (await get('/ui/steps/look')).body;
    expect(text).toContain('50.0%');
    expect(text).toContain('6 executions labelled: 2 correct, 2 partial, 2 incorrect');
    const metrics = (await server.app.inject('/metrics')).body;
    expect(metrics).toContain('service_pipeline_feedback_total{pipeline="checkout",outcome="correct"} 3');
  } finally {
    await server.close();
  }
});
