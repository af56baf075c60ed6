import { expect, test } from 'vitest';
import { turnOf } from './own-turns.ts';

const nested = `{"a":${'['.repeat(10_000)}${']'.repeat(10_000)}}`;

test.each([
  ['an object', '{"minutes":5}', { minutes: 5 }],
  ['nothing', ' ', {}],
  ['no JSON', '{', {}],
  ['no object', '[1]', {}],
  ['thousands of levels', nested, {}],
])('a turn can be written whatever the arguments of its calls are: %s', (_, input, kept) => {
  const call = { type: 'tool-call' as const, toolCallId: 'a', toolName: 'look', input };
  const turn = turnOf({ provider: 'it', model: 'm' }, [call]);
  expect(JSON.parse(JSON.stringify(turn))).toMatchObject({ content: [{ toolName: 'look', input: kept }] });
});
