import { AppError } from '@signalbox/crds';
import { expect, test } from 'vitest';
import { VIEWER } from './fixtures/fake-deps.ts';
import { pagesWith } from './fixtures/pages-with.ts';

/** Title and way on of a page that says what went wrong. */
const said = (body: string) => ({
  title: /<h1>(.*?)<\/h1>/.exec(body)?.[1],
  way: /<a class="button" href="([^"]*)">(?:<svg.*?<\/svg>)?([^<]*)</.exec(body)?.slice(1).join(' '),
});

test.each([
  ['/ui/golden-sets/nothing', 404, 'This does not exist', '/ui/golden-sets Back to Golden sets'],
  ['/ui/replays/nothing', 404, 'This does not exist', '/ui/replays Back to Replays'],
  ['/ui/exports/runs?format=xml', 400, 'This request is not valid', '/ui/ Back to the overview'],
  ['/ui/nothing-here', 404, 'There is no such page', '/ui/ Back to the overview'],
])('%s leads on to the list that it is of', async (url, status, title, way) => {
  const answer = await (await pagesWith()).get(url);
  expect([answer.statusCode, said(answer.body)]).toEqual([status, { title, way }]);
});

test('an export that cannot be made says which part of its address is wrong', async () => {
  const { body } = await (await pagesWith()).get('/ui/exports/runs?format=xml');
  expect(body).toMatch(/Query\.format: .*csv/);
});

test.each([
  [new AppError('unavailable', 'the database does not answer'), 503, 'The statistics take too long at the moment'],
  [new AppError('rate_limited', 'too many are open'), 429, 'Too many requests at once'],
  [new Error('a bug'), 500, 'This page failed'],
])('what may pass is tried again: %s', async (error, status, title) => {
  const { get } = await pagesWith({
    statistics: {
      teams: async () => {
        throw error;
      },
    },
  });
  const answer = await get('/ui/teams?month=2026-11');
  expect([answer.statusCode, said(answer.body)]).toEqual([
    status,
    { title, way: '/ui/teams?month&#x3D;2026-11 Try again' },
  ]);
});

test('a form that was refused leads back to where it stands, and to no other site', async () => {
  const { app } = await pagesWith({ viewer: { ...VIEWER, role: 'viewer' } });
  const way = async (referer: string) => {
    const headers = { host: 'signalbox:8000', referer };
    return said((await app.inject({ method: 'POST', url: '/ui/golden-sets', headers })).body).way;
  };
  expect(await way('http://signalbox:8000/ui/runs/1?step=a')).toBe('/ui/runs/1?step&#x3D;a Back to where you were');
  for (const odd of ['http://elsewhere/ui/runs/1', 'http://signalbox:8000/else', 'nonsense'])
    expect([odd, await way(odd)]).toEqual([odd, '/ui/golden-sets Back to Golden sets']);
});
