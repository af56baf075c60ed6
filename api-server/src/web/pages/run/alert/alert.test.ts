import { expect, test } from 'vitest';
import { pagesWith } from '../../fixtures/pages-with.ts';
import { HOSTILE, runDetail } from '../../fixtures/runs.ts';
import { alertView } from './view.ts';

const page = async (context: Record<string, unknown>) => {
  const run = runDetail({ context });
  const { body } = await (await pagesWith({ details: [run] })).get(`/ui/runs/${run.id}`);
  return body.replaceAll('&#x3D;', '=');
};

test('a label is a link to the runs that have it, the name of the alert first', async () => {
  const body = await page({ labels: { service: 'checkout', alertname: 'HighErrors' } });
  const links = [...body.matchAll(/href="\/ui\/runs\?label=([^"]+)"/g)].map(([, label]) => label);
  expect(links).toEqual(['alertname%3AHighErrors', 'service%3Acheckout']);
  expect(await page({ labels: {} })).not.toContain('id="alert"');
});

test.each([
  ['a name with a colon', { 'a:b': 'c' }],
  ['a value that the filter would cut', { a: 'x'.repeat(200) }],
  ['a value with a space at its end', { a: 'b ' }],
])('%s is shown without a link', (_, labels) => {
  expect(alertView({ context: { labels } })?.labels).toMatchObject([{ href: null }]);
});

test('only addresses of the web become links, with the place that they lead to', async () => {
  const body = await page({
    annotations: { runbook_url: 'https://runbooks.example/errors', dashboard_url: 'javascript:alert(1)' },
    metadata: { generator_url: 'data:text/html,x', external_url: 'http://alerts.example:9093/#/alerts' },
  });
  expect(body).toContain(
    '<a class="link" href="https://runbooks.example/errors" title="https://runbooks.example/errors" target="_blank" rel="noopener noreferrer">Runbook</a>',
  );
  expect(body).toContain('<span class="note">alerts.example:9093</span>');
  expect(body).not.toMatch(/href="(?:javascript|data):/);
});

test('what an alert says stays text, and many labels are cut', async () => {
  const labels = Object.fromEntries(Array.from({ length: 60 }, (_, i) => [`${HOSTILE}${i}`, HOSTILE]));
  const body = await page({ labels, annotations: { runbook_url: `https://x.example/${HOSTILE}` } });
  expect(body).not.toContain('<img src=x');
  expect(body).toContain('20 more below');
});
