import { expect, test } from 'vitest';
import { pagesWith } from '../fixtures/pages-with.ts';

import { VIEWER } from '../fixtures/fake-deps.ts';
import { NOW, runDetail } from '../fixtures/runs.ts';

const message = (status: 'pending' | 'sent' | 'failed' | 'forwarded' | 'dismissed', error: string | null = null) => ({
  id: `r/escalate/${status}`,
  run_id: 'r',
  pipeline_name: 'p',
  event: 'escalate',
  channel: 'slack',
  status,
  attempts: 3,
  tries: null,
  error,
  created_at: new Date(NOW - 60_000).toISOString(),
  ended_at: null,
  next_try_at: status === 'pending' ? new Date(NOW + 32_000).toISOString() : null,
});

test('the page of a run says which messages arrived, and why others did not', async () => {
  const notifications = [
    message('sent'),
    message('failed', 'slack: answered 503'),
    message('pending', 'slack: no answer'),
  ];
  const run = runDetail({ notifications });
  const { body } = await (await pagesWith({ details: [run] })).get(`/ui/runs/${run.id}`);
  expect(body).toContain('escalate to slack');
  expect(body).toContain('Not delivered');
  expect(body).toContain('slack: answered 503 · 3 tries');
  expect(body).toContain('slack: no answer · 3 tries · next try in 32 s');
  expect(body.match(/value="resend"/g)).toHaveLength(2);
});

test('a reminder says when it is due', async () => {
  const reminder = { ...message('pending'), event: 'remind', attempts: 0 };
  const run = runDetail({ notifications: [reminder] });
  const { body } = await (await pagesWith({ details: [run] })).get(`/ui/runs/${run.id}`);
  expect(body).toContain('due at 2026-11-21 12:00:32 UTC, unless somebody acknowledges the run before');
});

test('a message that failed shows method, address and status of each try', async () => {
  const request = { method: 'POST', url: 'https://hooks.example/***', status: 503 };
  const at = new Date(NOW - 30_000).toISOString();
  const tries = [
    { at, error: 'slack: answered 503', request },
    { at, error: 'slack: no answer', request: { ...request, status: null } },
  ];
  const run = runDetail({ notifications: [{ ...message('failed', 'slack: no answer'), tries }] });
  const { body } = await (await pagesWith({ details: [run] })).get(`/ui/runs/${run.id}`);
  expect(body).toMatch(/POST https:\/\/hooks\.example\/\*\*\* answered 503<\/span> · slack: answered 503/);
  expect(body).toContain('POST https://hooks.example/*** got no answer');
});

test('an operator sends a message again from the page of its run, a viewer does not', async () => {
  const run = runDetail({ notifications: [message('failed', 'slack: answered 503')] });
  const { post, deps } = await pagesWith({ details: [run] });
  const form = { _csrf: VIEWER.csrf, id: 'r/escalate/failed', action: 'resend' };
  const answer = await post(`/ui/runs/${run.id}/messages`, form);
  expect([answer.statusCode, answer.headers.location]).toEqual([303, `/ui/runs/${run.id}#messages`]);
  expect(deps.resent).toMatchObject([{ id: 'r/escalate/failed', actor: { name: VIEWER.name } }]);
  const viewer = { ...VIEWER, role: 'viewer' as const };
  const looking = await pagesWith({ details: [run], viewer });
  expect((await looking.get(`/ui/runs/${run.id}`)).body).not.toContain('value="resend"');
  await looking.post(`/ui/runs/${run.id}/messages`, form);
  expect(looking.deps.resent).toEqual([]);
});
