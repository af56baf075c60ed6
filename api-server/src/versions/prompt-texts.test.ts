import { promptHash } from '@signalbox/crds';
import { expect, test } from 'vitest';
import { promptTexts } from './prompt-texts.ts';

test('every prompt of a pipeline is found once, in entries, groups and fan-outs', () => {
  const ask = (template: string, executor = 'gateway') => ({ executor, agent: 'a', prompt_template: template });
  const texts = promptTexts({
    steps: [
      { name: 'one', ...ask('first') },
      { name: 'again', ...ask('first') },
      {
        name: 'both',
        parallel: {
          steps: [
            { name: 'l', ...ask('left') },
            { name: 'r', ...ask('right', 'external') },
          ],
        },
      },
      { name: 'each', fan_out: { over: 'vars.x', step: ask('each') } },
      { name: 'person', executor: 'human', prompt_template: 'a question to people' },
      { name: 'hook', executor: 'webhook', url: 'http://x' },
    ],
  });
  expect(texts.map(({ template }) => template)).toEqual(['first', 'left', 'right', 'each']);
  expect(texts.every(({ hash, template }) => hash === promptHash(template))).toBe(true);
});

test.each([
  [null],
  [{}],
  [{ steps: 'none' }],
  [{ steps: [null, 7, { executor: 'gateway', prompt_template: 7 }] }],
  ['x'],
])('nothing is found in %j', (body) => expect(promptTexts(body)).toEqual([]));
