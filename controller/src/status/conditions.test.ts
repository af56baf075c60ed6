import { expect, test } from 'vitest';
import { keyOf, type ReplicaView, type ServiceView } from '../observe/service-view.ts';
import { plan, type Verdict } from '../plan/plan.ts';
import { objectOf } from '../testing/objects.ts';
import { conditionsOf } from './conditions.ts';
import { nextStatus, sameStatus, transitions } from './next-status.ts';

const NOW = '2026-05-01T10:00:00Z';
const verdictOf = (input: Parameters<typeof objectOf>[0] = {}): Verdict => plan([objectOf(input)], undefined)[0]!;
const sound = verdictOf();
const hash = sound.served!.hash;

const replica = (pod: string, loaded: string | null, error?: string): ReplicaView => ({
  pod,
  hashes: new Map(loaded === null ? [] : [[keyOf('Pipeline', 'checkout'), loaded]]),
  lastRuns: new Map(),
  errors: new Map(error === undefined ? [] : [[keyOf('Pipeline', 'checkout'), error]]),
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
  expect(nextStatus(bad, { asked: false }, NOW)).toMatchObject({ observedGeneration: 2, lastAccepted: sound.body! });
});

test('events are told of turns only', () => {
  const ready = nextStatus(sound, asked(replica('a', hash)), NOW).conditions;
  const bad = nextStatus(verdictOf({ spec: { steps: [] } }), asked(replica('a', null)), NOW).conditions;
  expect(transitions([], ready)).toEqual([]);
  expect(transitions(ready, ready)).toEqual([]);
  expect(transitions([], bad)).toMatchObject([{ type: 'Warning', reason: 'Invalid' }]);
  expect(transitions(ready, bad)).toMatchObject([{ type: 'Warning', reason: 'Invalid' }]);
  expect(transitions(bad, ready).map(({ reason }) => reason)).toEqual(['Accepted', 'Ready']);
});
