import { expect, test } from 'vitest';
import { type PipelineEnv, renderText, textRoom } from './rendering.ts';
import { createTemplates } from './templates.ts';

const templates = createTemplates({
  sandbox: true,
  compute: { inThread: () => Promise.reject(new Error('a thread was asked')), isBarred: () => false },
});
const environment = (value: string): PipelineEnv => ({
  valueOf: (name) => (name === 'A' ? value : undefined),
  mask: (text) => text,
});
const render = (source: string, value = '') =>
  renderText(source, {
    templates,
    env: environment(value),
    values: {},
    owner: { run: 'r', share: 'p' },
    room: textRoom(),
    field: 'payload',
  });
const tooLong = {
  ok: false,
  type: 'template_failed',
  message: 'payload: a template holds at most 65536 characters',
};

test('a text that values of the environment make too long is refused, and never written out', async () => {
  expect(await render('${A}'.repeat(16_000), 'v'.repeat(60_000))).toMatchObject(tooLong);
  expect(await render('${A}${A}', 'v'.repeat(32 * 1024))).toMatchObject({ ok: true });
  expect(await render(`${'${A}'.repeat(3)}\${B}`, 'v'.repeat(60_000))).toMatchObject({ type: 'env_not_allowed' });
});

test('a template that is too long is refused without a thread', async () => {
  expect(await render('{{a}}'.repeat(20_000))).toMatchObject(tooLong);
});
