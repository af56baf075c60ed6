import { expect, test } from 'vitest';
import { keyOf, type ReplicaView, type ServiceView } from '../observe/service-view.ts';
import { plan, type Verdict } from '../plan/plan.ts';
import { withoutAccepted, withoutSpec } from '../objects/custom-object.ts';
import { objectOf } from '../testing/objects.ts';
import { conditionsOf } from './conditions.ts';
import { unpackBody } from '../objects/packed-body.ts';
import { nextStatus, sameStatus, transitions } from './next-status.ts';
import { definedAgents, undefinedAgents } from './undefined-agents.ts';

const NOW = '2026-05-01T10:00:00Z';
type Conditions = Parameters<typeof transitions>[0]['conditions'];
const between = (before: Conditions, after: Conditions) => transitions({ conditions: before }, { conditions: after });
const verdictOf = (input: Parameters<typeof objectOf>[0] = {}): Verdict => plan([objectOf(input)], undefined)[0]!;
const sound = verdictOf();
const hash = sound.served!.hash;

const replica = (pod: string, loaded: string | null, error?: string): ReplicaView => ({
  pod,
  hashes: new Map(loaded === null ? [] : [[keyOf('Pipeline', 'checkout'), loaded]]),
  lastRuns: new Map(),
  errors: new Map(error === undefined ? [] : [[keyOf('Pipeline', 'checkout'), error]]),
  warnings: new Map(),
  verdicts: new Map(),
  goldenSets: new Map(),
  tools: new Map(),
});
const asked = (...replicas: ReplicaView[]): ServiceView => ({ asked: true, replicas, failed: [] });

const table: [string, Verdict, ServiceView, string[]][] = [
  [
    'no address is given',
    sound,
    { asked: false },
    ['Accepted=True', 'Synced=Unknown NotObserved', 'Ready=Unknown NotObserved'],
  ],
  [
    'every replica has it',
    sound,
    asked(replica('a', hash), replica('b', hash)),
    ['Accepted=True', 'Synced=True', 'Ready=True'],
  ],
  [
    'one replica is behind',
    sound,
    asked(replica('a', hash), replica('b', 'old')),
    ['Accepted=True', 'Synced=False OutOfDate', 'Ready=False OutOfDate'],
  ],
  [
    'a replica refuses it',
    sound,
    asked(replica('a', null, 'no such agent')),
    ['Accepted=True', 'Synced=False LoadError', 'Ready=False LoadError'],
  ],
  [
    'a replica does not answer',
    sound,
    { asked: true, replicas: [replica('a', hash)], failed: [{ pod: 'b', message: 'refused' }] },
    ['Accepted=True', 'Synced=Unknown Unreachable', 'Ready=Unknown Unreachable'],
  ],
  [
    'spec is bad and nothing was accepted',
    verdictOf({ spec: { steps: [] } }),
    asked(replica('a', null)),
    ['Accepted=False Invalid', 'Synced=False NotAccepted', 'Ready=False Invalid'],
  ],
  [
    'spec is bad and what was accepted is served',
    verdictOf({ spec: { steps: [] }, status: { lastAccepted: sound.body! } }),
    asked(replica('a', hash)),
    ['Accepted=False Invalid', 'Synced=True', 'Ready=False Invalid'],
  ],
];

test.each(table)('conditions where %s', (_name, verdict, view, expected) => {
  const said = conditionsOf(verdict, view).filter(({ type }) => type !== 'PromotionReady');
  const words = said.map(({ type, status, reason }) => `${type}=${status}${status === 'True' ? '' : ` ${reason}`}`);
  expect(words).toEqual(expected);
});

test('a warning of a replica is said beside Ready', () => {
  const warnings = new Map([[keyOf('Pipeline', 'checkout'), 'OPS_HOOK is not allowed in url']]);
  const view = asked(replica('a', hash), { ...replica('b', hash), warnings });
  const ready = conditionsOf(sound, view).find(({ type }) => type === 'Ready');
  expect(ready).toMatchObject({
    status: 'True',
    reason: 'Ready',
    message: 'accepted, and served by every replica, with a warning: OPS_HOOK is not allowed in url',
  });
});

test('a status that says the same is the same, whenever it is computed', () => {
  const view = asked(replica('a', hash));
  const status = nextStatus(sound, view, NOW);
  const later = { ...sound, object: objectOf({ status }) };
  expect(sameStatus(nextStatus(later, view, '2027-01-01T00:00:00Z'), status)).toBe(true);
  expect(status).toMatchObject({ observedGeneration: 1, contentHash: hash, replicas: [{ pod: 'a', hash }] });
});

test('a condition keeps its time until its status turns', () => {
  const status = nextStatus(sound, asked(replica('a', hash)), NOW);
  const next = nextStatus(
    { ...sound, object: objectOf({ status }) },
    asked(replica('a', 'old')),
    '2027-01-01T00:00:00Z',
  );
  const times = Object.fromEntries(next.conditions.map(({ type, lastTransitionTime }) => [type, lastTransitionTime]));
  expect(times).toMatchObject({ Accepted: NOW, Synced: '2027-01-01T00:00:00Z', Ready: '2027-01-01T00:00:00Z' });
});

test('what was accepted last outlives a spec that is bad', () => {
  const status = nextStatus(sound, { asked: false }, NOW);
  const bad = verdictOf({ spec: { steps: [] }, generation: 2, status });
  expect(nextStatus(bad, { asked: false }, NOW)).toMatchObject({
    observedGeneration: 2,
    lastAccepted: status.lastAccepted,
  });
  expect(unpackBody(status.lastAccepted!)).toEqual(sound.body);
});

test.each([
  ['an earlier version said nothing', undefined],
  ['others wrote something', { name: 'harmless', runtime: {} }],
])(
  'the status of an agent says what its namespace needs rights for, also of one that is refused, and where %s',
  (_, needs) => {
    const spec = { model: 'demo/any', soul: 'x', runtime: { mode: 'kubernetes', nodeSelector: { disk: 'ssd' } } };
    const agent = { kind: 'Agent', name: 'helper' } as const;
    const said = (verdict: Verdict) => nextStatus(verdict, { asked: false }, NOW).lastAccepted;
    const packed = said(verdictOf({ ...agent, spec }))!;
    expect(packed.needs).toEqual({ name: 'helper', runtime: { nodeSelector: true } });
    const status = { lastAccepted: { ...packed, needs } };
    expect(said(verdictOf({ ...agent, spec, status }))).toEqual(packed);
    expect(said(verdictOf({ ...agent, spec: { tools: 1 }, status }))).toEqual(packed);
  },
);

test('events are told of turns only', () => {
  const ready = nextStatus(sound, asked(replica('a', hash)), NOW).conditions;
  const bad = nextStatus(verdictOf({ spec: { steps: [] } }), asked(replica('a', null)), NOW).conditions;
  expect(between([], ready)).toEqual([]);
  expect(between(ready, ready)).toEqual([]);
  const loading = nextStatus(sound, asked(replica('a', null)), NOW).conditions;
  expect(between([], loading)).toEqual([]);
  expect(between(loading, ready)).toMatchObject([{ type: 'Normal', reason: 'Ready' }]);
  expect(between([], bad)).toMatchObject([{ type: 'Warning', reason: 'Invalid' }]);
  expect(between(ready, bad)).toMatchObject([{ type: 'Warning', reason: 'Invalid' }]);
  expect(between(bad, ready).map(({ reason }) => reason)).toEqual(['Accepted', 'Ready']);
});

test('what passes by itself is no event, and what comes of it is', () => {
  const loading = nextStatus(sound, asked(replica('a', null)), NOW).conditions;
  const refused = nextStatus(sound, asked(replica('a', null, 'no such agent')), NOW).conditions;
  expect(between(loading, refused)).toMatchObject([{ type: 'Warning', reason: 'LoadError' }]);
  expect(between(refused, loading)).toEqual([]);

  const view = asked(replica('a', hash));
  const pods = (status: 'True' | 'False', reason: string) =>
    nextStatus(sound, view, NOW, { status, reason, message: '0 of 1 pods are ready' }).conditions;
  const [starting, failed, ready] = [
    pods('False', 'Starting'),
    pods('False', 'DeploymentUnavailable'),
    pods('True', 'Available'),
  ];
  expect(between([], starting)).toEqual([]);
  expect(between(loading, starting)).toEqual([]);
  expect(between(ready, starting)).toEqual([]);
  expect(between(starting, failed)).toMatchObject([{ type: 'Warning', reason: 'DeploymentUnavailable' }]);
  expect(between(starting, ready)).toMatchObject([{ type: 'Normal', reason: 'Ready' }]);
});

const GATED = { 'signalbox.dev/readiness-gate': 'enforce' };
const production = { ...objectOf().spec, stage: 'production' };
const judged = (verdict: string, of: Verdict = sound, reason?: string) =>
  asked({
    ...replica('a', of.served!.hash),
    verdicts: new Map([[keyOf('Pipeline', 'checkout'), { verdict, reason }]]),
  });
const promotion = (verdict: Verdict, view: ServiceView) =>
  conditionsOf(verdict, view).find(({ type }) => type === 'PromotionReady');

test.each([
  ['ready', 'True Ready'],
  ['not_ready', 'False NotReady'],
  ['building', 'False Building'],
  ['no_data', 'False NoData'],
  ['not_configured', 'Unknown NotConfigured'],
  ['what a later service may say', 'Unknown NotAssessed'],
])('a verdict of %s is PromotionReady=%s', (verdict, expected) => {
  const said = promotion(sound, judged(verdict));
  expect(`${said?.status} ${said?.reason}`).toBe(expected);
});

test('the sentence of the service is the message', () => {
  const why = 'step look, accuracy: 7 of 20 marked results; 13 more to go';
  expect(promotion(sound, judged('building', sound, why))).toMatchObject({ reason: 'Building', message: why });
  const held = verdictOf({ spec: production, annotations: GATED });
  expect(promotion(held, judged('building', held, why))?.message).toBe(
    `${why}; the readiness gate keeps the pipeline at stage testing until then`,
  );
});

test('of two replicas the less sure one is believed, with its own sentence', () => {
  const [a, b] = [judged('ready', sound, 'all is well'), judged('not_ready', sound, 'it fails')];
  const both = asked(...[a, b].flatMap((view) => (view.asked ? view.replicas : [])));
  expect(promotion(sound, both)).toMatchObject({ status: 'False', message: 'it fails' });
});

test('a verdict on another edition says nothing, and does not open the gate', () => {
  const held = verdictOf({ spec: production, annotations: GATED });
  const earlier = verdictOf({ spec: { ...production, description: 'earlier' }, annotations: GATED });
  const view = judged('ready', earlier);
  expect(promotion(held, view)).toMatchObject({ status: 'Unknown', reason: 'NotAssessed' });
  expect(nextStatus(held, view, NOW)['promoted']).toBeUndefined();
});

test('the gate serves stage testing until the verdict was ready once, and then for good', () => {
  const held = verdictOf({ spec: production, annotations: GATED });
  expect(held.served?.text).toContain('stage: testing');
  expect(held.body).toMatchObject({ stage: 'production' });
  expect(promotion(held, { asked: false })).toMatchObject({
    status: 'Unknown',
    message: expect.stringContaining('keeps the pipeline at stage testing'),
  });
  const waiting = nextStatus(held, judged('building', held), NOW);
  expect(waiting['promoted']).toBeUndefined();
  const promoted = nextStatus(held, judged('ready', held), NOW);
  expect(promoted['promoted']).toBe(true);
  const free = verdictOf({ spec: production, annotations: GATED, status: promoted });
  expect(free.served?.text).toContain('stage: production');
  expect(nextStatus(free, judged('no_data', free), NOW)['promoted']).toBe(true);
});

test.each([
  ['that is not written is testing', {}, {}, 'testing'],
  ['is as written', { stage: 'production' }, {}, 'production'],
  ['that the gate holds back is testing', { stage: 'production' }, GATED, 'testing'],
  ['of what nobody may serve is not said', { stage: 'production', steps: [] }, {}, undefined],
])('a stage %s', (_, change, annotations, stage) => {
  const spec = { ...objectOf().spec, ...change };
  expect(nextStatus(verdictOf({ spec, annotations }), { asked: false }, NOW)['stage']).toBe(stage);
});

test('who sets the stage back to testing closes the gate again', () => {
  const back = { ...objectOf().spec, stage: 'testing' };
  const verdict = verdictOf({ spec: back, annotations: GATED, status: { promoted: true } });
  expect(nextStatus(verdict, judged('ready', verdict), NOW)['promoted']).toBeUndefined();
});

test('what was accepted last passes the gate too', () => {
  const accepted = { ...sound.body, stage: 'production' };
  const held = verdictOf({ spec: { steps: [] }, annotations: GATED, status: { lastAccepted: accepted } });
  expect(held.served).toMatchObject({
    from: 'lastAccepted',
    held: true,
    text: expect.stringContaining('stage: testing'),
  });
  const free = verdictOf({
    spec: { steps: [] },
    annotations: GATED,
    status: { lastAccepted: accepted, promoted: true },
  });
  expect(free.served?.text).toContain('stage: production');
});

test('the tools of an agent are those that the service discovered', () => {
  const agent = verdictOf({ kind: 'Agent', name: 'helper' });
  const tools = [{ server: 'machine', name: 'read_load', hash: 'abc' }];
  const view = asked({ ...replica('a', null), tools: new Map([[keyOf('Agent', 'helper'), tools]]) });
  const status = nextStatus(agent, view, NOW);
  expect(status['discoveredTools']).toEqual(tools);
  const silent = { ...agent, object: { ...agent.object, status } };
  expect(nextStatus(silent, { asked: true, replicas: [], failed: [] }, NOW)['discoveredTools']).toEqual(tools);
});

const NAMED = { 'signalbox.dev/golden-set': 'triage' };
const replayed = (verdict: string, reason: string) =>
  asked({ ...replica('a', hash), goldenSets: new Map([['triage', { verdict, reason }]]) });
const regressionFree = (view: ServiceView, of = verdictOf({ annotations: NAMED })) =>
  conditionsOf(of, view).find(({ type }) => type === 'RegressionFree');

test.each([
  ['regression_free', 'none of 4 members regressed', 'True RegressionFree'],
  ['regressed', '2 of 4 members regressed', 'False Regressed'],
  ['unknown', 'no replay of the set has ended yet', 'Unknown NotReplayed'],
  ['what a later service may say', 'something', 'Unknown NotReplayed'],
])('a golden set with the verdict %s (%s) is RegressionFree=%s', (verdict, reason, expected) => {
  const said = regressionFree(replayed(verdict, reason));
  expect(`${said?.status} ${said?.reason}`).toBe(expected);
  expect(said?.message).toBe(`golden set triage: ${reason}`);
});

test('a golden set that the service does not have, or that cannot be asked for, is unknown with the reason', () => {
  expect(regressionFree(asked(replica('a', hash)))).toMatchObject({ status: 'Unknown', reason: 'NoGoldenSet' });
  expect(regressionFree({ asked: false })).toMatchObject({ status: 'Unknown', reason: 'NotObserved' });
});

test('without the annotation there is no such condition, and with it Ready does not depend on it', () => {
  const bad = replayed('regressed', '2 of 4 members regressed');
  expect(regressionFree(bad, sound)).toBeUndefined();
  const conditions = conditionsOf(verdictOf({ annotations: NAMED }), bad);
  expect(conditions.find(({ type }) => type === 'Ready')).toMatchObject({ status: 'True' });
  const status = nextStatus(verdictOf({ annotations: NAMED }), bad, NOW);
  expect(status.conditions.find(({ type }) => type === 'RegressionFree')).toMatchObject({ status: 'False' });
  expect(between([], status.conditions).map(({ reason }) => reason)).not.toContain('Regressed');
});

test('an event says which keys of an accepted spec changed, and what the rules warn of since', () => {
  const steps = (prompt: string) => [{ name: 'look', executor: 'gateway', agent: 'helper', prompt_template: prompt }];
  const first = nextStatus(verdictOf({ spec: { steps: steps('Look at {{summary}}') } }), { asked: false }, NOW);
  const edited = verdictOf({ spec: { tags: ['a'], steps: steps('Look at {{sumary}}') }, status: first });
  const second = nextStatus(edited, { asked: false }, NOW);
  expect(transitions(first, second)).toEqual([
    { type: 'Normal', reason: 'Changed', message: 'a new edition was accepted: steps.0.prompt_template, tags changed' },
    {
      type: 'Warning',
      reason: 'AcceptedWithWarnings',
      message: expect.stringContaining('spec.steps.0.prompt_template: "sumary" is no known name') as string,
    },
  ]);
  expect(transitions(second, nextStatus({ ...edited }, { asked: false }, NOW))).toEqual([]);
  const broken = nextStatus(verdictOf({ spec: { steps: 1 }, status: second }), { asked: false }, NOW);
  expect(transitions(second, broken)).toMatchObject([
    {
      reason: 'Invalid',
      message: expect.stringMatching(/^Accepted was True \(Accepted\) and is False: spec\.steps: /),
    },
  ]);
});

test('a pipeline that calls an agent which nobody defines says so in its conditions', () => {
  const gateway = (...names: string[]): ServiceView => ({
    asked: true,
    failed: [],
    replicas: [{ ...replica('g', null), hashes: new Map(names.map((name) => [keyOf('Agent', name), 'v'])) }],
  });
  const judged = (view: ServiceView) => {
    const verdicts = plan([objectOf(), objectOf({ kind: 'Agent', name: 'other' })], undefined);
    const verdict = verdicts.find(({ object }) => object.kind === 'Pipeline')!;
    const missing = undefinedAgents(verdict, definedAgents(verdicts, view));
    const ready = conditionsOf({ ...verdict, undefinedAgents: missing }, asked(replica('a', hash)));
    return ready.find(({ type }) => type === 'Ready')?.message;
  };
  expect(judged(gateway('other'))).toContain('with a warning: no agent "helper" is defined, so its step fails');
  // From the gateway's own folder.
  expect(judged(gateway('helper'))).not.toContain('warning');
  expect(judged({ asked: false })).not.toContain('warning');
});

test('what an autoscaler reads of the pods stays while their number is not known', () => {
  const agent = (status = {}) => verdictOf({ kind: 'Agent', name: 'a', status });
  const available = { status: 'True', reason: 'Available', message: '' } as const;
  const seen = nextStatus(agent(), { asked: false }, NOW, { ...available, pods: 2 });
  expect(seen['scale']).toEqual({ replicas: 2, selector: 'signalbox.dev/agent=a' });
  const unseen = { status: 'Unknown', reason: 'NotObserved', message: '' } as const;
  expect(nextStatus(agent(seen), { asked: false }, NOW, unseen)['scale']).toEqual(seen['scale']);
  expect(nextStatus(agent(seen), { asked: false }, NOW, null)).not.toHaveProperty('scale');
});

test('of a body that nobody can judge because it was left out the status says what it said', () => {
  const { object } = verdictOf({ spec: { ...sound.object.spec, stage: 'production' }, status: { promoted: true } });
  const whole = nextStatus(plan([object], undefined)[0]!, { asked: false }, NOW);
  const left = withoutAccepted(withoutSpec(objectOf({ ...object, status: whole })));
  const status = nextStatus(plan([left], undefined)[0]!, { asked: false }, NOW);
  expect(status).toMatchObject({ contentHash: whole.contentHash, stage: 'production', promoted: true });
  expect(status.conditions[0]).toMatchObject({ reason: 'TooLarge' });
  const again = nextStatus(plan([{ ...left, status }], undefined)[0]!, { asked: false }, '2027-01-01T00:00:00Z');
  expect(sameStatus(again, status)).toBe(true);
});
