import { promptHash } from '@signalbox/crds';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { readinessOf } from '../../service/readiness/readiness.ts';
import { type DefinitionServer, startDefinitionServer } from '../fixtures/definitions.ts';
import { readinessDeps } from '../fixtures/server.ts';

const PROMPT = 'Look at {{summary}}';
const HASH = promptHash(PROMPT);
const CHECKOUT = `name: checkout
stage: production
readiness:
  operational: {min_runs: 3}
  accuracy: {min_marked: 2}
steps:
  - {name: look, executor: gateway, agent: investigator, prompt_template: "${PROMPT}"}
  - name: tell
    executor: webhook
    url: https://example.com/
`;
const BARE = `name: bare\nsteps:\n  - {name: tell, executor: webhook, url: "https://example.com/"}\n`;

let server: DefinitionServer;
let versions: Record<string, string>;
beforeAll(async () => {
  server = await startDefinitionServer({
    fill: (disk) => {
      disk.write('pipelines/checkout.yaml', CHECKOUT);
      disk.write('pipelines/bare.yaml', BARE);
    },
    deps: {
      evaluate: (pipeline, asked) =>
        readinessOf(
          {
            ...readinessDeps(server.store),
            agentVersions: () => Promise.resolve(new Map(Object.entries(versions))),
          },
          pipeline,
          asked,
        ),
    },
  });
  for (let n = 1; n <= 4; n += 1) {
    const run = await server.store.addRun(n, { stage: n === 4 ? 'testing' : 'production' });
    await server.store.addStep(run, 'look', { prompt_hash: HASH });
    await server.store.addStep(run, 'tell', { executor: 'webhook', agent: null, prompt_hash: null, step_index: 1 });
  }
});
afterAll(() => server.close());
beforeEach(() => {
  versions = {};
});

const get = (query = '', name = 'checkout') =>
  server.send('GET', `/pipelines/${name}/promotion-readiness${query}`, undefined, 'viewer');
const mark = (n: number, outcome: string) =>
  server.send('POST', `/runs/00000000-0000-4000-8000-00000000000${n}/steps/look/feedback`, { outcome }, 'operator');

describe('GET /pipelines/{name}/promotion-readiness', () => {
  test('every field of an evaluation', async () => {
    const { status, body } = await get();
    expect(status).toBe(200);
    const { steps, ...report } = body;
    expect(report).toEqual({
      pipeline_name: 'checkout',
      pipeline_stage: 'production',
      evidence_stage: 'production',
      criteria_source: 'configured',
      verdict: 'building',
      gathered_at: '2026-11-21T12:00:00.000Z',
      summary: { ready: 1, not_ready: 0, building: 1, no_data: 0, not_configured: 0, total: 2 },
    });
    expect(steps[0]).toMatchObject({
      step_name: 'look',
      kind: 'step',
      executor: 'gateway',
      when: null,
      verdict: 'building',
      confidence_threshold: 0.75,
      criteria: {
        operational: { min_runs: 3, min_success_rate: 0.95, source: 'pipeline' },
        accuracy: { min_marked: 2, min_accuracy: 0.85, source: 'pipeline' },
      },
      current_config: {
        prompt_hash: HASH,
        agent_version: 'v1',
        agent_version_source: 'history',
        prompt_hash_source: 'definition',
        prompt_hash_matches_history: true,
      },
      evidence: {
        runs_total: 3,
        rows_total: 3,
        marked_total: 0,
        first_seen_at: '2026-11-21T12:00:00.000Z',
        last_seen_at: '2026-11-21T12:00:00.000Z',
      },
      tiers: {
        operational: { verdict: 'ready', runs: 3, min_runs: 3, failed: 0, success_rate: 1, min_success_rate: 0.95 },
        confidence: { verdict: 'not_configured', answers: 3, min_runs: null, pass_rate: 1, mean_confidence: 0.8 },
        accuracy: {
          verdict: 'building',
          marked: 0,
          min_marked: 2,
          accuracy: null,
          reason: '0 of 2 marked results; 2 more to go.',
        },
        calibration: { verdict: 'not_configured', marked: 0, n_min: null, validated_bins: 0 },
      },
      observed_combos: [
        {
          agent: 'investigator',
          provider: 'demo',
          model: 'demo/scripted',
          prompt_hash: HASH,
          agent_version: 'v1',
          runs_total: 3,
          rows_total: 3,
          marked_total: 0,
          current: true,
        },
      ],
      narrative: [
        expect.stringContaining('3 runs, none failed'),
        expect.stringContaining('0 of 2 marked results; 2 more to go'),
      ],
      notes: [expect.stringContaining('The backend does not say which version')],
    });
    expect(steps[1]).toMatchObject({ verdict: 'ready', criteria: { operational: { min_runs: 3 } } });
  });

  test('evidence is fresh with every answer, and an overwritten mark counts once', async () => {
    await mark(1, 'incorrect');
    await mark(1, 'correct');
    expect((await get()).body.steps[0].tiers.accuracy).toMatchObject({ marked: 1, correct: 1, incorrect: 0 });
    await mark(2, 'correct');
    expect((await get()).body).toMatchObject({ verdict: 'ready', summary: { ready: 2 } });
    await mark(2, 'incorrect');
    expect((await get()).body.verdict).toBe('not_ready');
  });

  test('what the backend says of the version of an agent decides what counts', async () => {
    versions = { 'gateway:investigator': 'v2' };
    const [look] = (await get()).body.steps;
    expect(look).toMatchObject({
      verdict: 'no_data',
      current_config: { agent_version: 'v2', agent_version_source: 'gateway' },
      evidence: { runs_total: 0, first_seen_at: null },
      notes: ['3 executions of an earlier prompt or agent version are left out.'],
    });
  });

  test('bins as wide as asked for', async () => {
    const bins = async (query: string) => (await get(query)).body.steps[0].tiers.calibration.bins;
    expect(await bins('')).toHaveLength(10);
    expect(await bins('?bin_width=0.25&n_min=1')).toEqual([
      { lo: 0, hi: 0.25, n: 0, mean_label: null, validated: false },
      { lo: 0.25, hi: 0.5, n: 0, mean_label: null, validated: false },
      { lo: 0.5, hi: 0.75, n: 0, mean_label: null, validated: false },
      { lo: 0.75, hi: 1, n: 2, mean_label: 0.5, validated: true },
    ]);
  });

  test.each(['bin_width=0.3', 'bin_width=0', 'bin_width=x', 'n_min=0', 'n_min=1.5', 'stage=testing'])(
    'a query of %s is refused',
    async (query) => {
      expect(await get(`?${query}`)).toMatchObject({ status: 400, body: { detail: { type: 'validation' } } });
    },
  );

  test('every knob says where it comes from', async () => {
    const parts = `name: sourced
readiness: {operational: {min_runs: 20}, accuracy: {}}
steps:
  - {name: look, executor: gateway, agent: a, prompt_template: "x", readiness: {calibration: {max_gap: 0.2}, accuracy: {min_human_marked: 3}}}
  - {name: own, executor: gateway, agent: a, prompt_template: "x", readiness: {calibration: {n_min: 7}}}
`;
    await server.send('POST', '/pipelines', { yaml: parts }, 'admin');
    const [look, own] = (await get('', 'sourced')).body.steps;
    expect(look.criteria).toMatchObject({
      operational: {
        min_runs: 20,
        min_success_rate: 0.95,
        source: 'pipeline',
        sources: {
          min_runs: 'pipeline',
          min_success_rate: 'default',
          max_age_days: 'default',
          acceptable_statuses: 'default',
        },
      },
      accuracy: {
        min_human_marked: 3,
        source: 'step',
        sources: { min_accuracy: 'default', min_marked: 'default', min_human_marked: 'step' },
      },
      calibration: { sources: { n_min: 'service', max_gap: 'step', min_coverage: 'default' } },
    });
    expect(own.criteria.calibration).toMatchObject({ n_min: 7, sources: { n_min: 'step' } });
    const [, asked] = (await get('?n_min=5', 'sourced')).body.steps;
    expect(asked.criteria.calibration).toMatchObject({ n_min: 5, sources: { n_min: 'query' } });
    await server.send('DELETE', '/pipelines/sourced', undefined, 'admin');
  });

  test('a pipeline without criteria says so, one that is not there is 404', async () => {
    expect((await get('', 'bare')).body).toMatchObject({
      criteria_source: 'none',
      verdict: 'not_configured',
      summary: { not_configured: 1, total: 1 },
      steps: [{ criteria: null, narrative: ['Nothing is asked of this step.'] }],
    });
    expect(await get('', 'nobody')).toMatchObject({ status: 404, body: { detail: { type: 'not_found' } } });
  });
});
