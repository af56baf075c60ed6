import { expect, test } from 'vitest';
import { pagesWith } from './fixtures/pages-with.ts';

const assetsOf = async () => {
  const { get } = await pagesWith({ viewer: null });
  const { body } = await get('/ui/login');
  return { get, base: /href="(\/ui\/assets\/[0-9a-f]{12})\/app\.css"/.exec(body)![1]! };
};

test.each([
  ['app.css', 'text/css; charset=utf-8'],
  ['js/app.js', 'application/javascript; charset=utf-8'],
  ['fonts/inter.woff2', 'font/woff2'],
  ['idiomorph.esm.js', 'application/javascript; charset=utf-8'],
])('the asset %s may be kept for ever: its address changes with the content', async (name, type) => {
  const { get, base } = await assetsOf();
  const { statusCode, headers, body } = await get(`${base}/${name}`);
  expect([statusCode, headers['cache-control'], headers['content-type']]).toEqual([
    200,
    'public, max-age=31536000, immutable',
    type,
  ]);
  if (name === 'app.css') expect(body).not.toMatch(/https?:\/\//);
});

test.each([
  '../page.ts',
  '..%2fpage.ts',
  'js/..%2f..%2fpages%2fpage.ts',
  '%2e%2e/server.ts',
  'js',
  'js/',
  'css/none.css',
])('no asset is %s', async (name) => {
  const { get, base } = await assetsOf();
  const { statusCode, body } = await get(`${base}/${name}`);
  expect(statusCode).toBeGreaterThanOrEqual(300);
  expect(body).not.toContain('import ');
});
