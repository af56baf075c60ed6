import { expect, test } from 'vitest';
import { actionsIn, declaredOutputs } from './result.ts';

test.each([
  [{ action: 'restart', culprit: 'java' }, [{ name: 'action', value: 'restart' }]],
  [
    { recommended_actions: ['drain db-1', 'scale to 4'] },
    [{ name: 'recommended_actions', value: 'drain db-1; scale to 4' }],
  ],
  [
    { next_step: 3, fix: true },
    [
      { name: 'next_step', value: '3' },
      { name: 'fix', value: 'true' },
    ],
  ],
  [
    { actions: ['a'], action: 'b', fix: 'c', recommendation: 'd' },
    [
      { name: 'actions', value: 'a' },
      { name: 'action', value: 'b' },
      { name: 'fix', value: 'c' },
    ],
  ],
  [{ action: { run: 'rm' }, fix: [['x']], recommendation: ' ', transaction: 'no', steps: 'no' }, []],
  [null, []],
  [['action'], []],
])('%j proposes %j', (output, actions) => {
  expect(actionsIn(output)).toEqual({ actions, proposes: actions.length > 0 });
});

test('a long proposal is cut between characters', () => {
  const [action] = actionsIn({ action: '🚒'.repeat(500) }).actions;
  expect(action?.value).toBe(`${'🚒'.repeat(199)}…`);
});

test.each([
  [
    { required: ['culprit', 'verdict'] },
    { note: 'x', verdict: 'roll back', culprit: 'java' },
    ['culprit', 'verdict'],
    false,
  ],
  [{ required: ['culprit', 'action'] }, { culprit: 'java', action: 'restart' }, ['action', 'culprit'], true],
  [{ properties: { verdict: { title: 'Recommended action' } } }, { a: 1, verdict: 'roll back' }, ['verdict'], true],
  [
    { required: ['pods', 'a', 'b', 'c', 'd'] },
    { pods: [{ name: 'p' }], a: 1, b: 2, c: 3, d: 4 },
    ['a', 'b', 'c'],
    false,
  ],
  [{ required: ['gone'], properties: { x: true, y: { title: 'Reaction' } } }, { x: 'x', y: 'y' }, [], false],
  ['no schema', { culprit: 'java' }, [], false],
])('by the schema %j the outputs of %j are shown as %j', (schema, output, names, proposes) => {
  const shown = actionsIn(output, declaredOutputs(schema));
  expect([shown.actions.map(({ name }) => name), shown.proposes]).toEqual([names, proposes]);
});
