import { expect, test } from 'vitest';
import { actionsIn } from './result.ts';

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
  expect(actionsIn(output)).toEqual(actions);
});

test('a long proposal is cut between characters', () => {
  const [action] = actionsIn({ action: '🚒'.repeat(500) });
  expect(action?.value).toBe(`${'🚒'.repeat(199)}…`);
});
