import { expect, test } from 'vitest';
import { toCustomObject, withStatus } from './custom-object.ts';

const METADATA = { name: 'a', namespace: 'b', uid: 'c', generation: 3, resourceVersion: '7' };
const WRITTEN = { conditions: [], replicas: [], contentHash: 'new' };
const read = () => {
  const object = toCustomObject('Pipeline', { metadata: METADATA, spec: { steps: [] } });
  if (!object) throw new Error('it is one of our objects');
  return object;
};

test('after its status was written, an object has that status, and version and annotations of the answer', () => {
  const annotations = { 'signalbox.dev/readiness-gate': 'enforce', 'example.org/other': 'long' };
  const next = withStatus(read(), WRITTEN, { metadata: { ...METADATA, resourceVersion: '8', annotations } });
  expect(next).toEqual({
    ...read(),
    resourceVersion: '8',
    status: WRITTEN,
    annotations: { 'signalbox.dev/readiness-gate': 'enforce' },
  });
  expect(next?.spec).toEqual({ steps: [] });
});

test('an object whose spec changed while its status was written is not known by the answer', () => {
  expect(withStatus(read(), WRITTEN, { metadata: { ...METADATA, resourceVersion: '9', generation: 4 } })).toBeNull();
  expect(withStatus(read(), WRITTEN, {})).toBeNull();
});
