import { expect, test, vi } from 'vitest';
import { createTemplates } from '../runs/prompt/templates.ts';
import { MAX_TEXT, templateText } from './compose.ts';

test('of a text of many pieces only what is kept is searched for secrets', () => {
  const compute = { inThread: () => Promise.reject(new Error('no thread was expected')), isBarred: () => false };
  const templates = createTemplates({ sandbox: true, compute });
  const mask = vi.fn<(text: string) => string>((text) => text);
  const values = { many: Array.from({ length: 9000 }, () => 'said') };
  expect(templateText('{{#each many}}{{this}}{{/each}}', { templates, values, mask })).toMatchObject({ ok: true });
  expect(mask).toHaveBeenCalledTimes(MAX_TEXT / 4);
});
