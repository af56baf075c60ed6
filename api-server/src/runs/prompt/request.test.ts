import { expect, test } from 'vitest';
import { type Rendering, textRoom } from './rendering.ts';
import { parseBody, renderRequest } from './request.ts';

test.each([
  ['{"status":"ok"}', { status: 'ok' }],
  ['not JSON', 'not JSON'],
  [`${'['.repeat(100)}${']'.repeat(100)}`, expect.any(Array)],
  [`${'['.repeat(100_000)}${']'.repeat(100_000)}`, expect.any(String)],
])('the body %.20s is seen as JSON where it is JSON that can be written again', (text, seen) => {
  expect(parseBody(text)).toEqual(seen);
});

test('address, headers and body are 1 MiB together, and what comes after is not rendered', async () => {
  const rendered: string[] = [];
  const render = async (source: string) => {
    rendered.push(source);
    return { ok: true, text: 'x'.repeat(600_000), spans: [], missing: [] };
  };
  const env = { verbatim: true, valueOf: () => undefined, mask: (text: string) => text };
  const rendering = { templates: { render, renderStrict: render }, env, values: {}, room: textRoom() };
  const written = { url: 'url', method: 'POST', headers: { a: 'header', b: 'header' }, payload: { text: 'body' } };
  const request = await renderRequest(written, rendering as unknown as Rendering);
  expect(request).toMatchObject({ ok: false, type: 'template_failed', message: expect.stringMatching(/^headers.a: /) });
  expect(rendered).toEqual(['url', 'header']);
});

test('half of a surrogate pair in a value of the address is encoded as the sign for what cannot be shown', async () => {
  const text = 'https://x.test/?q=\ud83d';
  const render = () => Promise.resolve({ ok: true, text, spans: [[18, 19]], missing: [] });
  const env = { verbatim: true, valueOf: () => undefined, mask: (value: string) => value };
  const rendering = { templates: { render, renderStrict: render }, env, values: {}, room: textRoom() };
  const written = { url: 'url', method: 'GET', headers: {} };
  const request = await renderRequest(written, rendering as unknown as Rendering);
  expect(request).toMatchObject({ ok: true, value: { url: 'https://x.test/?q=%EF%BF%BD' } });
});
