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

test('of the annotations only the two that are read are kept, where they are short', () => {
  const annotations = {
    'signalbox.dev/other': 'x',
    'signalbox.dev/readiness-gate': 'enforce',
    'signalbox.dev/golden-set': 'x'.repeat(250_000),
  };
  expect(toCustomObject('Pipeline', { metadata: { ...METADATA, annotations } })?.annotations).toEqual({
    'signalbox.dev/readiness-gate': 'enforce',
  });
});

test('an object whose spec changed while its status was written is not known by the answer', () => {
  expect(withStatus(read(), WRITTEN, { metadata: { ...METADATA, resourceVersion: '9', generation: 4 } })).toBeNull();
  expect(withStatus(read(), WRITTEN, {})).toBeNull();
});

test.each([
  ['many values', { tags: Array.from({ length: 20_000 }, () => []) }],
  ['much text', { soul: 'x'.repeat(1_400_000) }],
  ['many levels', JSON.parse(`{"deep":${'['.repeat(9000)}${']'.repeat(9000)}}`) as object],
])('of a spec of %s only the name is kept', (_, large) => {
  const object = toCustomObject('Agent', { metadata: METADATA, spec: { name: 'helper', ...large } });
  expect(object).toMatchObject({ tooLarge: true, spec: { name: 'helper' }, generation: 3 });
  expect(toCustomObject('Agent', { metadata: METADATA, spec: null })).toMatchObject({ tooLarge: true, spec: {} });
});

test('a spec as large as a definition may be is kept', () => {
  const spec = { soul: 'x'.repeat(250_000), tags: Array.from({ length: 9000 }, () => 'ops') };
  expect(toCustomObject('Agent', { metadata: METADATA, spec })).toMatchObject({ tooLarge: false, spec });
});

test('a status of more values than one of ours, or deeper, counts as none', () => {
  for (const text of [`[${'[],'.repeat(70_000)}1]`, '['.repeat(9000) + ']'.repeat(9000)])
    expect(toCustomObject('Agent', { metadata: METADATA, status: { lastRun: JSON.parse(text) } })?.status).toEqual({
      conditions: [],
      replicas: [],
    });
});
