import { expect, test } from 'vitest';
import { VIEWER } from '../../fixtures/fake-deps.ts';
import { pagesWith } from '../../fixtures/pages-with.ts';
import { HOSTILE, runLine } from '../../fixtures/runs.ts';
import type { TeamView } from './view.ts';
import { canonical, savedViews, VIEWS_COOKIE, viewsCookie } from './saved.ts';

const cookieOf = (views: { name: string; query: string }[], by = VIEWER.name) => viewsCookie(views, by) ?? '';

async function pages(world: Parameters<typeof pagesWith>[0] = {}) {
  const { app, post } = await pagesWith({ lines: [runLine()], ...world });
  const list = async (query: string, cookie?: string) => {
    const cookies: Record<string, string> = cookie === undefined ? {} : { [VIEWS_COOKIE]: cookie };
    return (await app.inject({ url: `/ui/runs${query}`, cookies })).body.replaceAll('&#x3D;', '=');
  };
  const send = (form: Record<string, string>, cookie?: string) =>
    app.inject({
      method: 'POST',
      url: '/ui/runs/views',
      payload: new URLSearchParams({ _csrf: VIEWER.csrf, ...form }).toString(),
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      ...(cookie === undefined ? {} : { cookies: { [VIEWS_COOKIE]: cookie } }),
    });
  return { list, send, post };
}

test('the filters of a list are saved under a name, shown from then on, and opened from their address', async () => {
  const { list, send } = await pages();
  expect(await list('?severity=critical&page=2')).toContain('name="query" value="severity=critical"');
  const saved = await send({ action: 'save', name: '  Critical   ones ', query: 'severity=critical&page=2&evil=1' });
  expect([saved.statusCode, saved.headers.location]).toEqual([303, '/ui/runs?severity=critical']);
  const [cookie] = saved.cookies;
  expect(cookie).toMatchObject({ name: VIEWS_COOKIE, httpOnly: true, path: '/ui', sameSite: 'Lax' });
  const page = await list('?severity=critical', cookie?.value);
  expect(page).toContain('<a href="/ui/runs?severity=critical" aria-current="page">Critical ones</a>');
  expect(page).toContain('aria-label="Remove the view Critical ones"');
  expect(page).not.toContain('Save view');
  const removed = await send({ action: 'remove', name: 'Critical ones' }, cookie?.value);
  expect(savedViews(removed.cookies[0]?.value, VIEWER.name)).toEqual([]);
});

test('views of the configuration stand beside them, with their team', async () => {
  const views: TeamView[] = [
    { team: 'payments', name: 'Open criticals', filters: { severity: 'critical', attention: 'open' } },
    { team: null, name: 'Costly', filters: { sort: '-cost' } },
  ];
  const { list } = await pages({ views });
  const page = await list('?attention=open&severity=critical');
  expect(page).toMatch(/aria-current="page"><span class="faint">payments<\/span> Open criticals<\/a>/);
  expect(page).toContain('<a href="/ui/runs?sort=-cost">Costly</a>');
});

test('without a name, without room and with a stale form nothing is saved', async () => {
  const { send } = await pages();
  const full = cookieOf(Array.from({ length: 20 }, (_, i) => ({ name: `view ${i}`, query: 'q=x' })));
  const long = {
    action: 'save',
    name: 'x',
    query: `q=${'ä'.repeat(200)}&pipeline=${'ä'.repeat(200)}&alert=${'ä'.repeat(200)}`,
  };
  const refused = [
    await send({ action: 'save', name: '  ', query: 'q=x' }),
    await send({ action: 'save', name: 'one more', query: 'q=x' }, full),
    await send(long),
    await send({ action: 'save', name: 'x', query: 'q=x', _csrf: 'old' }),
  ];
  expect(refused.map(({ statusCode, cookies }) => [statusCode, cookies])).toEqual([
    [400, []],
    [400, []],
    [400, []],
    [403, []],
  ]);
});

test.each([
  ['of another person', cookieOf([{ name: 'a', query: 'q=x' }], 'bob')],
  ['that is none', 'nonsense'],
  [
    'with other fields',
    Buffer.from('{"by":"ada","views":[{"name":"a","query":"q=x","href":"x"}]}').toString('base64url'),
  ],
  ['without end', 'a'.repeat(100_000)],
])('a cookie %s holds no view', (_, cookie) => {
  expect(savedViews(cookie, VIEWER.name)).toEqual([]);
});

test('a name stays text, and a query is only what the list knows', async () => {
  const cookie = cookieOf([{ name: HOSTILE.slice(0, 40), query: `"><script>&status=failed&sort=colour` }]);
  expect(savedViews(cookie, VIEWER.name)[0]?.query).toBe('status=failed');
  const { list } = await pages();
  expect(await list('', cookie)).not.toContain('<img src=x');
  expect(canonical('b=1&team=x&attention=open&page=3')).toBe('attention=open&team=x');
});
