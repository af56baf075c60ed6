import { expect, test } from 'vitest';
import { Supervisor, type SupervisorDeps } from './supervisor.ts';
import type { ToolConnection, ToolOutcome } from './tool.ts';

interface Timer {
  ms: number;
  action: () => void;
}
const PING_EVERY_MS = 30_000;
const FINE: ToolOutcome = { kind: 'ok', text: 'fine' };

/** A session that a test ends; `calls` answers every call. */
function fakeConnection({ ping = () => Promise.resolve(), listTools = () => Promise.resolve([]), calls = FINE } = {}) {
  const { promise: closed, resolve: end } = Promise.withResolvers<string>();
  const seen = { pings: 0, closes: 0 };
  const connection: ToolConnection = {
    pid: 1,
    closed,
    listTools,
    call: () => Promise.resolve(calls),
    ping: () => {
      seen.pings += 1;
      return ping();
    },
    onToolsChanged: () => {},
    close: () => {
      seen.closes += 1;
      end('closed');
      return Promise.resolve();
    },
  };
  return { connection, seen, end };
}

/** A supervisor whose clock is the test's. */
function supervised(open: SupervisorDeps['open'], random = 0, clock = { now: 0 }) {
  const timers = new Set<Timer>();
  const supervisor = new Supervisor({
    open,
    random: () => random,
    now: () => new Date(clock.now),
    onTransition: () => {},
    pingEveryMs: PING_EVERY_MS,
    pingTimeoutMs: 5000,
    schedule: (action, ms) => {
      const timer = { ms, action };
      timers.add(timer);
      return () => timers.delete(timer);
    },
  });
  const reaches = (state: string) => expect.poll(() => supervisor.status().state).toBe(state);
  /** Lets the time of the only timer of that length pass. */
  const pass = (ms: number) => {
    const due = [...timers].filter((timer) => timer.ms === ms);
    expect(due).toHaveLength(1);
    for (const timer of due) {
      timers.delete(timer);
      timer.action();
    }
  };
  const waits = () => [...timers].map(({ ms }) => ms);
  return { supervisor, reaches, pass, waits };
}

const call = (supervisor: Supervisor, agent?: string) =>
  supervisor.call('t', {}, { signal: new AbortController().signal, timeoutMs: 100, agent });

test.each([
  [0, [1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000]],
  [1, [750, 1500, 3000, 6000, 12_000, 24_000, 45_000, 45_000]],
])('a server that cannot be started is tried again after 1, 2, 4 … 60 s: jitter %d', async (random, expected) => {
  const { supervisor, reaches, pass, waits } = supervised(() => Promise.reject(new Error('no')), random);
  supervisor.start();
  for (const [failures, ms] of expected.entries()) {
    await reaches('backoff');
    expect(waits()).toEqual([ms]);
    expect(supervisor.status().restartCount).toBe(failures + 1);
    pass(ms);
    expect(supervisor.status().state).toBe('starting');
  }
});

test('a minute of health forgets the failures before it, and less does not', async () => {
  let current = fakeConnection();
  const { supervisor, reaches, pass, waits } = supervised(() => {
    current = fakeConnection();
    return Promise.resolve(current.connection);
  });
  supervisor.start();
  const dies = async () => {
    await reaches('running');
    current.end('died');
    await reaches('backoff');
    await expect.poll(waits).toHaveLength(1);
    return waits()[0];
  };
  expect(await dies()).toBe(1000);
  pass(1000);
  expect(await dies()).toBe(2000);
  pass(2000);
  await reaches('running');
  pass(60_000);
  expect(await dies()).toBe(1000);
  expect(supervisor.status()).toMatchObject({ restartCount: 3, lastError: 'died' });
});

test('a server is asked for a sign of life again and again, and replaced when it gives none', async () => {
  let alive = true;
  const { connection, seen } = fakeConnection({
    ping: () => (alive ? Promise.resolve() : Promise.reject(new Error('no answer'))),
  });
  const { supervisor, reaches, pass } = supervised(() => Promise.resolve(connection));
  supervisor.start();
  await reaches('running');
  for (const pings of [1, 2, 3]) {
    pass(PING_EVERY_MS);
    expect(seen.pings).toBe(pings);
  }
  await reaches('running');
  alive = false;
  pass(PING_EVERY_MS);
  await reaches('backoff');
  expect(supervisor.status().lastError).toBe('does not answer a ping');
  expect(seen.closes).toBeGreaterThan(0);
});

test.each([
  ['timeout', 1],
  ['unavailable', 1],
  ['error', 0],
  ['ok', 0],
] as const)('a call that ends as %s asks for a sign of life so often: %i', async (kind, pings) => {
  const { connection, seen } = fakeConnection({ calls: { kind, text: '' } });
  const { supervisor, reaches } = supervised(() => Promise.resolve(connection));
  supervisor.start();
  await reaches('running');
  expect((await call(supervisor)).kind).toBe(kind);
  expect(seen.pings).toBe(pings);
});

test.each<[string, ToolOutcome['kind'][], string]>([
  ['three in a row', ['timeout', 'timeout', 'timeout'], 'backoff'],
  ['two, an answer, two', ['timeout', 'timeout', 'ok', 'timeout', 'timeout'], 'running'],
  ['two, an error of the tool, two', ['timeout', 'timeout', 'error', 'timeout', 'timeout'], 'running'],
])('unanswered calls of a server that answers its pings: %s', async (_, kinds, state) => {
  const calls = { kind: 'ok' as ToolOutcome['kind'], text: '' };
  const { connection } = fakeConnection({ calls });
  const { supervisor, reaches } = supervised(() => Promise.resolve(connection));
  supervisor.start();
  await reaches('running');
  for (const kind of kinds) {
    calls.kind = kind;
    await call(supervisor);
  }
  expect(supervisor.status()).toMatchObject({
    state,
    lastError: state === 'running' ? null : 'left 3 calls in a row unanswered',
  });
});

test('an agent that leaves the server no time to answer restarts it for nobody whom it answers', async () => {
  const calls = { kind: 'ok' as ToolOutcome['kind'], text: '' };
  const clock = { now: 0 };
  const { connection } = fakeConnection({ calls });
  const { supervisor, reaches } = supervised(() => Promise.resolve(connection), 0, clock);
  supervisor.start();
  await reaches('running');
  const answers = async (kind: ToolOutcome['kind'], ...agents: string[]) => {
    calls.kind = kind;
    for (const agent of agents) await call(supervisor, agent);
    return supervisor.status().state;
  };
  expect(await answers('ok', 'shop', 'pay')).toBe('running');
  expect(await answers('timeout', 'pay', 'pay', 'pay', 'pay-two')).toBe('running');
  // What answers nobody any more is restarted, also where some do not call it again.
  clock.now += 4 * 60_000;
  expect(await answers('timeout', 'pay')).toBe('running');
  clock.now += 60_000;
  expect(await answers('timeout', 'pay')).toBe('backoff');
});

test('a server that stops to answer all its agents is restarted at once', async () => {
  const calls = { kind: 'ok' as ToolOutcome['kind'], text: '' };
  const { connection } = fakeConnection({ calls });
  const { supervisor, reaches } = supervised(() => Promise.resolve(connection));
  supervisor.start();
  await reaches('running');
  for (const agent of ['shop', 'pay']) await call(supervisor, agent);
  calls.kind = 'timeout';
  for (const agent of ['shop', 'shop', 'pay']) await call(supervisor, agent);
  expect(supervisor.status().state).toBe('backoff');
});

test('calls that were given up are not counted as unanswered', async () => {
  const { connection, seen } = fakeConnection({ calls: { kind: 'timeout', text: '' } });
  const { supervisor, reaches } = supervised(() => Promise.resolve(connection));
  supervisor.start();
  await reaches('running');
  const signal = AbortSignal.abort();
  for (let count = 0; count < 5; count++) await supervisor.call('t', {}, { signal, timeoutMs: 100 });
  expect([supervisor.status().state, seen.pings]).toEqual(['running', 0]);
});

test('a stop waits until a server that is just being started has ended', async () => {
  const { promise: ended, resolve: end } = Promise.withResolvers<void>();
  const { supervisor } = supervised(
    (signal) =>
      new Promise((_, reject) => {
        signal.addEventListener('abort', () => void ended.then(() => reject(new Error('stopped'))));
      }),
  );
  supervisor.start();
  let stopped = false;
  const stopping = supervisor.stop().then(() => (stopped = true));
  await new Promise((resolve) => setImmediate(resolve));
  expect(stopped).toBe(false);
  end();
  await stopping;
  expect(supervisor.status().state).toBe('stopped');
});

test('a stop ends a server that is just being asked for its tools', async () => {
  const { promise: asked, resolve: ask } = Promise.withResolvers<void>();
  const fake = fakeConnection({
    listTools: () => {
      ask();
      return fake.connection.closed.then(() => Promise.reject(new Error('closed')));
    },
  });
  const { supervisor, waits } = supervised(() => Promise.resolve(fake.connection));
  supervisor.start();
  await asked;
  await supervisor.stop();
  expect(fake.seen.closes).toBeGreaterThan(0);
  expect(waits()).toEqual([]);
});

test('a stop waits for the end of a server that was lost', async () => {
  const fake = fakeConnection();
  const { promise: ended, resolve: end } = Promise.withResolvers<void>();
  const connection = { ...fake.connection, close: () => ended };
  const { supervisor, reaches } = supervised(() => Promise.resolve(connection));
  supervisor.start();
  await reaches('running');
  fake.end('died');
  await reaches('backoff');
  let stopped = false;
  const stopping = supervisor.stop().then(() => (stopped = true));
  await new Promise((resolve) => setImmediate(resolve));
  expect(stopped).toBe(false);
  end();
  await stopping;
});
