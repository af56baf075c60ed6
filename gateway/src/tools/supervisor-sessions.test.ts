import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { collectGarbage } from '../testing/collect-garbage.ts';
import { until } from '../testing/until.ts';
import { connectMcp } from './mcp-connection.ts';
import { createMemoryWatch } from './memory-watch.ts';
import { createOrphanWatch } from './orphan-watch.ts';
import { createReadUse } from './read-use.ts';
import { StdioTransport } from './stdio-transport.ts';
import { Supervisor } from './supervisor.ts';
import type { OpenConnection } from './tool.ts';

const PATH = process.env['PATH'] ?? '';
const orphanWatch = createOrphanWatch(PATH, () => {});
const watches = { watchMemory: createMemoryWatch(createReadUse(), 100), orphanWatch };
afterAll(() => orphanWatch.close());

/** A supervisor that starts again at once. */
function supervise(open: OpenConnection): Supervisor {
  return new Supervisor({
    open,
    random: () => 0,
    now: () => new Date(),
    schedule: (action, ms) => {
      const timer = setTimeout(action, Math.min(ms, 5));
      return () => clearTimeout(timer);
    },
    onTransition: () => {},
    pingEveryMs: 3_600_000,
    pingTimeoutMs: 3_600_000,
  });
}

test('nothing of a session stays once its server was replaced, however often that happens', async () => {
  const misbehaving = join(import.meta.dirname, '../testing/misbehaving-server.ts');
  const spec = {
    command: process.execPath,
    args: [misbehaving],
    cwd: undefined,
    env: { PATH },
    memoryLimitBytes: 1e9,
    secrets: [],
  };
  const sessions: WeakRef<StdioTransport>[] = [];
  const supervisor = supervise((signal) => {
    const transport = new StdioTransport(spec, watches);
    sessions.push(new WeakRef(transport));
    return connectMcp(
      { transport, pid: () => transport.pid, reason: () => transport.reason, conceal: (text) => text },
      signal,
    );
  });
  supervisor.start();
  for (let restarts = 0; restarts < 4; restarts++) {
    await until(() => supervisor.status().state === 'running' && supervisor.status().restartCount === restarts);
    await supervisor.call('exit', {}, { signal: new AbortController().signal, timeoutMs: 50_000 });
  }
  await until(() => supervisor.status().state === 'running' && supervisor.status().restartCount === 4);
  const left = () => {
    collectGarbage();
    return sessions.slice(0, -1).filter((session) => session.deref() !== undefined).length;
  };
  await until(() => left() === 0);
  await supervisor.stop();
});

test('a stop takes back a start that is under way', async () => {
  let given: AbortSignal | undefined;
  const supervisor = supervise((signal) => {
    given = signal;
    return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('taken back'))));
  });
  supervisor.start();
  await supervisor.stop();
  expect([given?.aborted, supervisor.status().state]).toEqual([true, 'stopped']);
});

test('no server can guess the mark of another, whose processes its own would be taken for', () => {
  const [one, other] = [orphanWatch.mark().value.split('.'), orphanWatch.mark().value.split('.')];
  expect(one[0]).toBe(other[0]);
  expect(one[1]).toMatch(/^[0-9a-f-]{36}$/);
  expect(one[1]).not.toBe(other[1]);
});
