import { expect, test } from 'vitest';
import { createEventHub, MAX_EVENT_CHARS, MAX_EVENTS, type RunFrame } from './events.ts';

function openRun({ maxChars }: { maxChars?: number } = {}) {
  const observed: string[] = [];
  const hub = createEventHub({
    readStored: () => Promise.resolve([]),
    now: () => 0,
    observe: ({ event }) => void observed.push(event),
    ...(maxChars !== undefined && { maxChars }),
  });
  const journal = hub.open('r1', []);
  const frames: RunFrame[] = [];
  hub.subscribe('r1', (frame) => void frames.push(frame));
  return { hub, journal, observed, frames };
}

test('what happens is told at once, an end only when it is stored', async () => {
  const { hub, journal, observed, frames } = openRun();
  journal.add('info', 'step_started', '');
  journal.add('info', 'step_completed', '');
  expect(observed).toEqual(['step_started']);
  expect(await hub.history('r1', 0)).toHaveLength(1);
  journal.stored(journal.mark());
  expect(observed).toEqual(['step_started', 'step_completed']);
  expect(frames).toHaveLength(2);
  expect(await hub.history('r1', 1)).toHaveLength(1);
});

test('the order stays: what follows an end waits for it', () => {
  const { journal, observed } = openRun();
  journal.add('info', 'step_completed', '');
  const first = journal.mark();
  journal.add('info', 'tool_call', '');
  journal.add('info', 'step_completed', '');
  expect(observed).toEqual([]);
  journal.stored(first);
  expect(observed).toEqual(['step_completed']);
  journal.stored(journal.mark());
  expect(observed).toEqual(['step_completed', 'tool_call', 'step_completed']);
});

test('a log that is full says so once and still has every end, warning and error', async () => {
  const { hub, journal } = openRun();
  for (let at = 0; at < MAX_EVENTS + 50; at++) journal.add('info', 'tool_call', '');
  journal.add('info', 'step_completed', '');
  journal.add('warn', 'step_retry', '');
  journal.stored(journal.mark());
  const events = await hub.history('r1', MAX_EVENTS);
  expect(events.map(({ event }) => event)).toEqual(['log_full', 'step_completed', 'step_retry']);
});

test('a log of warnings without end keeps twice as many, then only ends', async () => {
  const { hub, journal } = openRun();
  for (let at = 0; at < 3 * MAX_EVENTS; at++) journal.add('warn', 'tool_denied', '');
  journal.add('info', 'step_completed', '');
  journal.stored(journal.mark());
  const events = await hub.history('r1', 0);
  expect(events.slice(2 * MAX_EVENTS).map(({ event }) => event)).toEqual(['log_full', 'step_completed']);
});

test('a log is full of long events, too, and what all logs hold is counted until their runs end', async () => {
  const { hub, journal } = openRun();
  for (let at = 0; at < 100; at++) journal.add('info', 'tool_call', 'long', { input: 'x'.repeat(100_000) });
  const events = await hub.history('r1', 0);
  expect(events.map(({ event }) => event)).toEqual([...Array.from({ length: 21 }, () => 'tool_call'), 'log_full']);
  hub.open('r2', events);
  expect(hub.chars()).toBeGreaterThan(2 * MAX_EVENT_CHARS);
  hub.close('r1', 'completed');
  hub.drop('r2');
  journal.add('info', 'run_completed', '');
  expect(hub.chars()).toBe(0);
});

test('a long message is cut, and what a full log has of ends is short', async () => {
  const { hub, journal } = openRun();
  for (let at = 0; at < 10_000; at++) journal.add('error', 'branch_failed', 'x'.repeat(60_000));
  journal.stored(journal.mark());
  const events = await hub.history('r1', 0);
  expect(events).toHaveLength(10_000);
  expect(events[0]?.msg).toHaveLength(2_001);
  expect(events.at(-1)?.msg).toHaveLength(101);
  expect(hub.chars()).toBeLessThan(3 * MAX_EVENT_CHARS);
});

test('where all logs together take much, each has little room, and still every end', () => {
  const { hub, journal } = openRun({ maxChars: 1_000_000 });
  const journals = [journal, ...Array.from({ length: 20 }, (_, at) => hub.open(`r${at + 2}`, []))];
  for (const one of journals) for (let at = 0; at < 1_000; at++) one.add('warn', 'step_retry', 'x'.repeat(2_000));
  expect(hub.chars()).toBeLessThan(7_000_000);
  const before = hub.chars();
  journal.add('info', 'run_completed', 'completed');
  expect(hub.chars()).toBeGreaterThan(before);
});

test('an event with fields that are too long has its small ones, and far fewer where the log is full', async () => {
  const { hub, journal } = openRun();
  const said = { step_name: 'ask', server: 'x'.repeat(200_000) };
  journal.add('info', 'tool_call', '', said);
  expect(await hub.history('r1', 0)).toEqual([expect.not.objectContaining({ server: said.server })]);
  expect(await hub.history('r1', 0)).toMatchObject([{ step_name: 'ask' }]);
  for (let at = 0; at < 100; at++) journal.add('info', 'step_completed', '', { ...said, server: 'x'.repeat(100_000) });
  expect(hub.chars()).toBeLessThan(2 * MAX_EVENT_CHARS);
});

test('a log that is full has what people answered', async () => {
  const { hub, journal } = openRun();
  for (let at = 0; at < 3 * MAX_EVENTS; at++) journal.add('warn', 'tool_denied', '');
  journal.add('info', 'approval_decided', '');
  journal.add('warn', 'approval_expired', '');
  const events = await hub.history('r1', 2 * MAX_EVENTS + 1);
  expect(events.map(({ event }) => event)).toEqual(['approval_decided', 'approval_expired']);
});

test('a log that is full of questions takes no more of them, and still every end', async () => {
  const { hub, journal } = openRun();
  for (let at = 0; at < 5 * MAX_EVENTS; at++) journal.add('info', 'approval_requested', '');
  journal.add('info', 'approval_decided', '');
  journal.add('info', 'step_completed', '');
  journal.stored(journal.mark());
  const events = await hub.history('r1', 4 * MAX_EVENTS - 1);
  expect(events.map(({ event }) => event)).toEqual(['approval_requested', 'log_full', 'step_completed']);
});
