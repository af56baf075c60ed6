import { compileJsonSchema } from '@signalbox/crds';
import { expect, test } from 'vitest';
import type { ModelCall, ModelPrompt } from '../model.ts';
import { createDemoProvider } from './demo-model.ts';

const provider = createDemoProvider();
const script = (yaml: string) => `You are a test.\n\n\`\`\`demo\n${yaml}\n\`\`\`\n`;

async function say(
  soul: string,
  results: (string | { error: string })[] = [],
  answerSchema: ModelCall['answerSchema'] = null,
) {
  const prompt: ModelPrompt = [
    { role: 'system', content: soul },
    { role: 'user', content: [{ type: 'text', text: 'The prompt.' }] },
    ...results.map((result): ModelPrompt[number] => ({
      role: 'tool',
      content: [
        {
          type: 'tool-result',
          toolCallId: 'x',
          toolName: 'x',
          output:
            typeof result === 'string' ? { type: 'text', value: result } : { type: 'error-text', value: result.error },
        },
      ],
    })),
  ];
  const tools: ModelCall['tools'] = [{ type: 'function', name: 'host__read_load', inputSchema: {} }];
  const reply = await provider
    .model('any')
    .generate({ prompt, tools, answerSchema }, { signal: new AbortController().signal });
  const [content] = reply.content;
  return content?.type === 'text' ? (JSON.parse(content.text) as Record<string, unknown>) : content;
}

const CALLS = 'calls: [{tool: host/read_load, input: {of: "{{input}}"}}]\n';

test('it calls the script’s tools by the names that were offered', async () => {
  expect(await say(script(`${CALLS}answer: {confidence: 1}`))).toMatchObject({
    type: 'tool-call',
    toolName: 'host__read_load',
    input: '{"of":"The prompt."}',
  });
});

test('the answer is made of what the tool returned', async () => {
  const soul = script(
    `${CALLS}answer:\n  confidence: {$scale: {value: results.0.load, from: [0, 4], to: [1, 0.2]}}\n  summary: "load {{results.0.load}} of {{results.0.host}}"\n  raw: {$value: results.0}`,
  );
  expect(await say(soul, ['{"load":1,"host":"web"}'])).toEqual({
    confidence: 0.8,
    summary: 'load 1 of web',
    raw: { load: 1, host: 'web' },
  });
  expect(await say(soul, ['{"load":99}'])).toMatchObject({ confidence: 0.2 });
});

test('the first answer whose condition holds is given', async () => {
  const soul = script(
    `${CALLS}answers:\n  - {when: {value: results.0.error, exists: true}, answer: {is: failed}}\n  - {when: {value: results.0.load, above: 1, below: 3}, answer: {is: busy}}\n  - {when: {value: results.0.load, equals: 0}, answer: {is: idle}}\nanswer: {is: other}`,
  );
  expect(await say(soul, [{ error: 'down' }])).toEqual({ is: 'failed' });
  expect(await say(soul, ['{"load":2}'])).toEqual({ is: 'busy' });
  expect(await say(soul, ['{"load":0}'])).toEqual({ is: 'idle' });
  expect(await say(soul, ['plain text'])).toEqual({ is: 'other' });
});

test('without a script it says what it is and meets the schema', async () => {
  const schema = {
    type: 'object',
    properties: {
      confidence: { type: 'number' },
      action: { enum: ['none', 'restart'] },
      hosts: { type: 'array' },
      n: { type: 'integer', minimum: 3 },
    },
    required: ['confidence', 'summary', 'action', 'hosts', 'n'],
  };
  const answer = await say('No script.', [], schema);
  expect(answer).toMatchObject({ confidence: 0.5, summary: expect.stringContaining('no language model') });
  const compiled = compileJsonSchema(schema);
  expect(compiled.ok && compiled.validate(answer)).toEqual({ ok: true });
});

test.each(['calls: 7', 'a: [', 'anser: {}'])(
  'a script that cannot be read (%s) is told with confidence 0',
  async (yaml) => {
    expect(await say(script(yaml))).toMatchObject({
      confidence: 0,
      summary: expect.stringContaining('cannot be read'),
    });
  },
);

test('an inherited property is no value', async () => {
  expect(await say(script('answer: {a: {$value: results.constructor}, b: "{{input.length}}"}'))).toEqual({
    a: null,
    b: '',
  });
});
