import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import type { RunEvent } from '../runs/state/model.ts';
import { createLogs } from './logger.ts';

const linesOf = (text: string) =>
  text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);

test('a line says when, how grave and what, and no secret', () => {
  const out = new PassThrough();
  const { log } = createLogs({ level: 'info', dir: null }, out);
  log.debug('not shown');
  log.warn(
    { token: 's3cret', request: { authorization: 's3cret', headers: { cookie: 's3cret' } }, pipeline: 'checkout' },
    'careful',
  );
  const text = String(out.read());
  expect(text).not.toContain('s3cret');
  expect(linesOf(text)).toEqual([
    expect.objectContaining({
      level: 'warn',
      msg: 'careful',
      pipeline: 'checkout',
      service: 'api-server',
      ts: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
    }),
  ]);
});

test('an event of a run is one line, an error of it a warning, and nothing below the level', async () => {
  const out = new PassThrough();
  const logs = createLogs({ level: 'warn', dir: null }, out);
  const event = {
    seq: 3,
    ts: '2026-11-21T10:00:00.000Z',
    run_id: 'r1',
    event: 'step_failed',
    msg: 'why',
    step_name: 'a',
  };
  const write = (entry: RunEvent) => logs.event(entry, JSON.stringify(entry));
  write({ ...event, level: 'info' });
  write({ ...event, level: 'error' });
  write({ ...event, level: 'warn', msg: 'other' });
  await new Promise((resolve) => setImmediate(resolve));
  const line = {
    seq: 3,
    level: 'warn',
    ts: event.ts,
    service: 'api-server',
    event: 'step_failed',
    run_id: 'r1',
    step_name: 'a',
  };
  expect(linesOf(String(out.read()))).toEqual([
    { ...line, msg: 'why' },
    { ...line, msg: 'other' },
  ]);
});

test('with a folder the same lines and the requests go to files', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'logs-'));
  try {
    const logs = createLogs({ level: 'info', dir: join(dir, 'deep') }, new PassThrough());
    logs.log.info('started');
    logs.access?.info({ status: 200 }, 'request');
    await logs.close();
    expect(linesOf(readFileSync(join(dir, 'deep', 'service.log'), 'utf8'))).toMatchObject([{ msg: 'started' }]);
    expect(linesOf(readFileSync(join(dir, 'deep', 'access.log'), 'utf8'))).toMatchObject([
      { msg: 'request', status: 200 },
    ]);
  } finally {
    rmSync(dir, { recursive: true });
  }
});
