import { createCompute } from '@signalbox/crds/process/compute';
import { resolveSet } from '@signalbox/crds';
import { expect, test } from 'vitest';
import { createTemplates } from '../runs/prompt/templates.ts';
import type { TriggerContext } from '../runs/state/model.ts';
import { firstPrompt } from './first-prompt.ts';

const CONTEXT: TriggerContext = {
  source: 'generic',
  pipeline: 'p',
  severity: null,
  labels: { service: 'checkout' },
  annotations: {},
  summary: 'slow',
  fingerprint: null,
  // A name of the context wins over that of an entry.
  metadata: { release: '1.42', summary: 'not this one' },
  raw: {},
  receivedAt: 0,
};

function promptOf(steps: string) {
  const set = resolveSet({
    pipelines: [{ file: 'p.yaml', text: `name: p\nvars: {board: red}\nsteps: ${steps}` }],
    steps: [],
  });
  const [found] = set.pipelines;
  if (!found) throw new Error(JSON.stringify(set.problems));
  const pipeline = { ...found, match: null };
  const templates = createTemplates({ sandbox: true, compute: createCompute({ timeoutMs: 1000 }) });
  return firstPrompt(templates, { pipeline, context: CONTEXT, team: 'shop' }, 0);
}
const ask = (name: string, prompt: string) =>
  `{name: ${name}, executor: gateway, agent: a, prompt_template: "${prompt}"}`;

test('the first prompt has the values of the delivery, and names what is missing', async () => {
  const prompt =
    '{{summary}} {{labels.service}} {{release}} {{metadata.release}} {{vars.board}} {{team}} {{stage}} {{steps.one.summary}}';
  expect(await promptOf(`[${ask('one', prompt)}]`)).toEqual({
    step: 'one',
    text: 'slow checkout 1.42 1.42 red shop testing ',
    missing: ['steps.one.summary'],
    error: null,
  });
});

test.each([
  [
    'a step that asks nobody is passed by',
    `[{name: w, executor: webhook, url: "http://x"}, ${ask('two', 'b')}]`,
    'two',
  ],
  ['a group counts by its first branch', `[{name: g, parallel: {steps: [${ask('l', 'a')}, ${ask('r', 'b')}]}}]`, 'l'],
  ['a question to a person is one', '[{name: h, executor: human, timeout_seconds: 9, prompt_template: ok?}]', 'h'],
])('%s', async (_, steps, expected) => {
  expect((await promptOf(steps))?.step).toBe(expected);
});

test('nobody is asked, nothing is shown', async () => {
  expect(await promptOf('[{name: w, executor: webhook, url: "http://x"}]')).toBeNull();
});
