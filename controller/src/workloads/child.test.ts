import { expect, test } from 'vitest';
import { APPLIED } from '../objects/child-object.ts';
import { toChild } from './child.ts';

const LONG = 'x'.repeat(200_000);
const OWNER = { kind: 'Agent', name: 'a', uid: 'u1', controller: true };
const METADATA = { name: 'agent-a', namespace: 'n', uid: 'u', resourceVersion: '5', generation: 3 };
const CONDITION = { type: 'Available', status: 'False', reason: 'Any', message: 'because' };

const read = (metadata: object, condition: object = {}) =>
  toChild('Deployment', {
    metadata: { ...METADATA, annotations: { [APPLIED]: 'hash' }, ownerReferences: [OWNER], ...metadata },
    status: { conditions: [{ ...CONDITION, ...condition }] },
  });

test('of an object of ours its owner, the hash of what was applied and its conditions are kept', () => {
  const { owner, applied, rollout } = read({}) ?? {};
  expect([owner, applied, rollout?.available]).toEqual([{ kind: 'Agent', name: 'a', uid: 'u1' }, 'hash', CONDITION]);
});

test.each<[string, object, object?]>([
  ['a hash that we did not write', { annotations: { [APPLIED]: LONG } }],
  ['an owner of a long kind', { ownerReferences: [{ ...OWNER, kind: LONG }] }],
  ['an owner of a long name', { ownerReferences: [{ ...OWNER, name: LONG }] }],
  ['an owner of a long id', { ownerReferences: [{ ...OWNER, uid: LONG }] }],
  ['a long condition', {}, { status: LONG, reason: LONG, message: LONG }],
])('%s keeps no long text in memory', (_, metadata, condition) => {
  const child = read(metadata, condition);
  expect(child).toMatchObject({ name: 'agent-a' });
  expect(JSON.stringify(child).length).toBeLessThan(2_000);
});

test('an object whose owner has a long name is of another owner, and one with a long hash is applied again', () => {
  expect(read({ ownerReferences: [{ ...OWNER, name: LONG }] })?.owner).toBeNull();
  expect(read({ annotations: { [APPLIED]: LONG } })?.applied).toBeNull();
});
