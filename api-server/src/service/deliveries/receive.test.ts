import { compileMatch, resolveSet } from '@signalbox/crds';
import { expect, test } from 'vitest';
import type { Snapshot } from '../../definitions/snapshot.ts';
import type { Delivery, Preview } from '../../triggers/model.ts';
import { receive, type ReceiveDeps } from './receive.ts';

const BODY = 'steps: [{name: one, executor: gateway, agent: a, prompt_template: "{{summary}}?"}]';
const FILES = {
  live: 'stage: production',
  trial: 'trigger: {match: {severity: critical}}',
  paused: 'stage: production\nsuspend: true',
  shouted: 'trigger: {match: {summary: {regex: ERROR}}}',
};

function snapshot(): Snapshot {
  const pipelines = Object.entries(FILES).map(([name, more]) => ({
    file: `${name}.yaml`,
    text: `name: ${name}\n${more}\n${BODY}`,
  }));
  const set = resolveSet({ pipelines, steps: [] });
  const loaded = set.pipelines.map((one) => ({
    ...one,
    match: one.config.trigger?.match ? compileMatch(one.config.trigger.match) : null,
  }));
  return {
    pipelines: loaded,
    byName: new Map(loaded.map((one) => [one.name, one])),
    steps: [],
    stepsByName: new Map(),
    problems: set.problems,
    shown: set.problems,
    hash: '',
    loadedAt: 0,
  };
}

/** What was noted of rules that could not read a text. */
const noted: unknown[] = [];

const deps: ReceiveDeps = {
  noteTooLong: (rules, source) => noted.push({ source, rules }),
  definitions: snapshot,
  accepting: () => true,
  intake: () => Promise.reject(new Error('a dry run stores nothing')),
  choose: (request) =>
    Promise.resolve({
      request,
      duplicate: request.context.fingerprint === 'seen' ? { id: 'run-1', status: 'running', triggeredAt: 0 } : null,
    }),
  log: { open: () => ({ store: () => Promise.resolve(), failed: () => undefined }), keepLater: () => undefined },
  roomFor: () => 'accepted',
  firstPrompt: ({ context }) => Promise.resolve({ step: 'one', text: `${context.summary}?`, missing: [], error: null }),
  now: () => 0,
};

async function dryRun(body: object, over: Partial<Delivery> = {}): Promise<Omit<Preview, 'context' | 'status'>> {
  const receipt = await receive(deps, {
    source: 'generic',
    body,
    strategy: null,
    allowTesting: false,
    dryRun: true,
    team: null,
    ...over,
  });
  if (receipt.kind !== 'previews' || !receipt.previews[0]) throw new Error(JSON.stringify(receipt));
  const { context: _, status: __, ...rest } = receipt.previews[0];
  return rest;
}

const FRESH = { fingerprint: null, dedup: { duplicate: false, runId: null } };

test('a dry run names the stage and the reason of a pipeline that would not start', async () => {
  expect(await dryRun({ pipeline: 'live' })).toEqual({
    ...FRESH,
    pipeline: 'live',
    stage: 'production',
    would: 'accepted',
    reason: null,
  });
  expect(await dryRun({ pipeline: 'trial' })).toEqual({
    ...FRESH,
    pipeline: 'trial',
    stage: 'testing',
    would: 'skipped_testing',
    reason: 'the pipeline is in stage testing; add allow_testing=true to run it',
  });
  expect(await dryRun({ pipeline: 'paused' })).toMatchObject({
    stage: 'production',
    would: 'suspended',
    reason: expect.stringContaining('resume it'),
  });
  expect(await dryRun({ pipeline: 'gone' })).toMatchObject({
    pipeline: 'gone',
    stage: null,
    would: 'no_pipeline',
    reason: 'no pipeline is named "gone"',
  });
});

test('a dry run names the testing pipeline that an alert resolves to, and its duplicate', async () => {
  const alert = { status: 'firing', fingerprint: 'f', labels: { severity: 'critical' }, annotations: {} };
  const body = { version: '4', groupKey: 'g', status: 'firing', alerts: [alert] };
  expect(await dryRun(body, { source: 'alert_router' })).toMatchObject({ pipeline: 'trial', would: 'skipped_testing' });
  expect(await dryRun({ pipeline: 'trial', idempotency_key: 'seen' })).toMatchObject({
    would: 'skipped_testing',
    dedup: { duplicate: true, runId: 'run-1' },
  });
  expect(await dryRun({ pipeline: 'live', idempotency_key: 'seen' })).toMatchObject({ would: 'deduplicated' });
});

test.each([
  ['that no pipeline takes', 'nope'],
  ['of a suspended pipeline', 'paused'],
  ['of a pipeline in stage testing', 'trial'],
])('a more severe alert %s does not keep another alert of its delivery from a run', async (_, pipeline) => {
  const alert = (severity: string, named: string) => ({
    status: 'firing',
    labels: { alertname: severity, severity, pipeline: named },
  });
  const body = { alerts: [alert('warning', 'live'), alert('critical', pipeline)] };
  expect(await dryRun(body, { source: 'alert_router' })).toMatchObject({ pipeline: 'live', would: 'accepted' });
  const alone = await dryRun({ alerts: [alert('critical', pipeline)] }, { source: 'alert_router' });
  expect(alone.would).not.toBe('accepted');
});

test('a preview shows the first prompt of a pipeline that would not start', async () => {
  expect(await dryRun({ pipeline: 'paused', summary: 'hot' }, { withPrompt: true })).toMatchObject({
    prompt: { step: 'one', text: 'hot?' },
  });
  expect(await dryRun({ pipeline: 'gone' }, { withPrompt: true })).toMatchObject({ prompt: null });
});

test('a run by hand takes an alert that its rules would not let through, and says which', async () => {
  const alert = { status: 'firing', fingerprint: 'f', labels: { severity: 'info' }, annotations: {} };
  const body = { version: '4', groupKey: 'g', status: 'firing', alerts: [alert] };
  const byHand = { source: 'alert_router', forcedPipeline: 'trial', allowTesting: true, withPrompt: true } as const;
  expect(await dryRun(body, byHand)).toMatchObject({
    pipeline: 'trial',
    would: 'accepted',
    rules: [{ key: 'severity', rule: 'critical', actual: 'info', holds: false }],
  });
  expect(await dryRun({}, { ...byHand, source: 'generic', forcedPipeline: 'live' })).toMatchObject({ rules: null });
});

test('a pattern that cannot read a text of over 16,384 characters is noted with pipeline and key, and the answer says so', async () => {
  const about = (summary: string) => ({
    body: {
      version: '4',
      groupKey: 'g',
      status: 'firing',
      alerts: [{ status: 'firing', labels: {}, annotations: { summary } }],
    },
    over: { source: 'alert_router', allowTesting: true },
  });
  const long = about(`ERROR ${'x'.repeat(16_384)}`);
  expect(await dryRun(long.body, long.over)).toMatchObject({
    would: 'no_pipeline',
    reason: expect.stringContaining(
      '; pipeline "shouted": summary is too long for its patterns, so the rule does not match',
    ),
  });
  expect(noted).toEqual([{ source: 'alert_router', rules: [{ pipeline: 'shouted', key: 'summary' }] }]);
  const readable = about(`ERROR ${'x'.repeat(16_000)}`);
  expect(await dryRun(readable.body, readable.over)).toMatchObject({ pipeline: 'shouted', would: 'accepted' });
  expect(noted).toHaveLength(1);
});

test.each([
  ['so many alerts', 60, {}, 50],
  ['alerts with so much in common', 5, { commonAnnotations: { dump: 'x'.repeat(600_000) } }, 2],
  ['an alert larger than all may be', 2, { commonAnnotations: { dump: 'x'.repeat(5_000_000) } }, 1],
])('of %s the dry run shows the first and counts the others', async (_, count, common, shown) => {
  const alerts = Array.from({ length: count }, (__, index) => ({
    labels: { severity: 'critical', index: `${index}` },
  }));
  const receipt = await receive(deps, {
    source: 'alert_router',
    body: { alerts, ...common },
    strategy: 'per_alert',
    allowTesting: true,
    dryRun: true,
    team: null,
  });
  if (receipt.kind !== 'previews') throw new Error(JSON.stringify(receipt));
  expect([receipt.previews.length, receipt.leftOut]).toEqual([shown, count - shown]);
});
