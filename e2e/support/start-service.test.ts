import { expect, onTestFinished, test, vi } from 'vitest';
import { scratchDirectory } from './scratch.ts';
import { startProcess } from './start-service.ts';
import { waitFor } from './wait-for.ts';

const node = (script: string) => ({ command: process.execPath, args: ['-e', script] });

test('a process is up once it has logged the address it listens on', async () => {
  const script = `console.log('warming up'); console.log(JSON.stringify({msg: 'listening', url: 'http://127.0.0.1:1/'})); setInterval(() => {}, 1000)`;
  const service = await startProcess('fake', node(script));
  expect(service.url).toBe('http://127.0.0.1:1');
  expect(service.logs.map(({ raw }) => raw)[0]).toBe('warming up');
  expect(await service.stop()).toEqual({ code: null, signal: 'SIGTERM' });
});

test('a process that ends early is an error that shows its last words', async () => {
  const started = startProcess('fake', node(`console.error('auth.tokens is empty'); process.exit(3)`));
  await expect(started).rejects.toThrow(/fake ended with code 3\nauth\.tokens is empty/);
});

test('a process that never listens is killed', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const { promise: pid, resolve: said } = Promise.withResolvers<number>();
  const started = startProcess('fake', node(`console.log(process.pid); setInterval(() => {}, 1000)`), {
    timeoutMs: 300,
    onLine: ({ raw }) => said(Number(raw)),
  });
  const failed = started.then(
    () => null,
    (reason: unknown) => reason as Error,
  );
  const silent = await pid;
  expect(process.kill(silent, 0)).toBe(true);
  vi.advanceTimersByTime(300);
  expect((await failed)?.message).toBe(`fake did not listen within 300 ms\n${silent}`);
  expect(() => process.kill(silent, 0)).toThrow('ESRCH');
});

test('a process that ignores SIGTERM is killed after the grace', async () => {
  const script = `process.on('SIGTERM', () => {}); console.log(JSON.stringify({msg: 'listening', url: 'http://x'})); setInterval(() => {}, 1000)`;
  const service = await startProcess('fake', node(script));
  expect(await service.stop(100)).toEqual({ code: null, signal: 'SIGKILL' });
});

test('waiting ends with the reason of the last attempt', async () => {
  const waiting = waitFor(() => Promise.reject(new Error('refused')), { what: 'the port', timeoutMs: 60 });
  await expect(waiting).rejects.toThrow(
    expect.objectContaining({ message: 'waited 60 ms for the port', cause: new Error('refused') }),
  );
});

test('a scratch directory goes away', async () => {
  const { existsSync } = await import('node:fs');
  const scratch = scratchDirectory();
  expect(existsSync(scratch.path)).toBe(true);
  scratch.remove();
  expect(existsSync(scratch.path)).toBe(false);
});
