import { resolveSet } from '@signalbox/crds';
import { Cron } from 'croner';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { LoadedPipeline, Snapshot } from '../definitions/snapshot.ts';
import { latestFire, nextFire } from './fires.ts';
import { createScheduler, type SchedulerDeps } from './scheduler.ts';

function pipeline(schedule: string, more = ''): LoadedPipeline {
  const text = `name: p\n${more}\nschedule: ${schedule}\nsteps: [{name: one, executor: gateway, agent: a, prompt_template: hi}]`;
  const set = resolveSet({ pipelines: [{ file: 'p.yaml', text }], steps: [] });
  const [found] = set.pipelines;
  if (!found) throw new Error(JSON.stringify(set.problems));
  return { ...found, match: null };
}
const at = (text: string) => Date.parse(text);
const iso = (time: number | null) => (time === null ? null : new Date(time).toISOString());

test.each([
  ['UTC', '{cron: "0 6 * * 1-5"}', '2026-11-20T07:00:00Z', '2026-11-23T06:00:00.000Z'],
  ['a zone', '{cron: "0 6 * * *", timezone: Europe/Berlin}', '2026-07-01T00:00:00Z', '2026-07-01T04:00:00.000Z'],
  [
    'an hour that summer time skips',
    '{cron: "30 2 * * *", timezone: Europe/Berlin}',
    '2026-03-28T12:00:00Z',
    '2026-03-29T01:30:00.000Z',
  ],
])('next fire: %s', (_, schedule, after, expected) => {
  const found = iso(nextFire(pipeline(schedule), at(after)));
  expect(found?.slice(0, 10)).toBe(expected.slice(0, 10));
  if (!expected.startsWith('2026-03-29')) expect(found).toBe(expected);
});

test('a fire in the hour that winter time repeats happens once', () => {
  const daily = pipeline('{cron: "30 2 * * *", timezone: Europe/Berlin}');
  const first = nextFire(daily, at('2026-10-24T12:00:00Z')) as number;
  const second = nextFire(daily, first) as number;
  expect(second - first).toBeGreaterThan(23 * 3_600_000);
});

test('the latest fire of a window includes its end and not its beginning', () => {
  const hourly = pipeline('{cron: "0 * * * *"}');
  expect(iso(latestFire(hourly, at('2026-01-01T09:00:00Z'), at('2026-01-01T12:00:00Z')))).toBe(
    '2026-01-01T12:00:00.000Z',
  );
  expect(latestFire(hourly, at('2026-01-01T12:00:00Z'), at('2026-01-01T12:59:59Z'))).toBeNull();
});

function clockwork(
  over: Partial<SchedulerDeps> & { pipelines: LoadedPipeline[]; clock: { now: number }; taken?: string[] },
) {
  const fired: string[] = [];
  const missed: string[] = [];
  const warned: object[] = [];
  const taken = new Set(over.taken?.map((text) => at(text)));
  const scheduler = createScheduler({
    definitions: () => ({ pipelines: over.pipelines }) as unknown as Snapshot,
    fire: (_, when) => {
      fired.push(new Date(when).toISOString());
      return Promise.resolve({ started: true, runId: 'r' });
    },
    takeMissed: (_, fires) => {
      const fresh = fires.filter((at) => !taken.has(at));
      for (const at of fresh) taken.add(at);
      missed.push(...fresh.map((at) => new Date(at).toISOString()));
      return Promise.resolve(fresh.length);
    },
    lastLook: () => Promise.resolve(null),
    noteLook: () => Promise.resolve(),
    catchUpSeconds: 0,
    now: () => over.clock.now,
    log: { info: () => undefined, warn: (fields) => void warned.push(fields) },
    ...over,
  });
  return { scheduler, fired, missed, warned };
}

test('what becomes due between two looks fires, once', async () => {
  const clock = { now: at('2026-01-01T11:59:30Z') };
  const { scheduler, fired } = clockwork({ pipelines: [pipeline('{cron: "0 * * * *"}')], clock });
  await scheduler.look();
  clock.now = at('2026-01-01T12:00:01Z');
  await scheduler.look();
  await scheduler.look();
  expect(fired).toEqual(['2026-01-01T12:00:00.000Z']);
});

test.each([
  ['nothing without catch_up_seconds', 0, []],
  ['the latest one within them', 7200, ['2026-01-01T12:00:00.000Z']],
])('after downtime: %s', async (_, catchUpSeconds, expected) => {
  const clock = { now: at('2026-01-01T12:30:00Z') };
  const lastLook = () => Promise.resolve(at('2026-01-01T08:00:00Z'));
  const { scheduler, fired } = clockwork({
    pipelines: [pipeline('{cron: "0 * * * *"}')],
    clock,
    catchUpSeconds,
    lastLook,
  });
  await scheduler.start();
  await scheduler.stop();
  expect(fired).toEqual(expected);
});

test('a suspended pipeline is listed without a next run', () => {
  const clock = { now: at('2026-01-01T12:30:00Z') };
  const { scheduler } = clockwork({ pipelines: [pipeline('{cron: "0 * * * *"}', 'suspend: true')], clock });
  expect(scheduler.list()).toMatchObject([{ pipeline: 'p', next_run: null, suspended: true }]);
});

test('what the service was down for is recorded as missed, once, and said in the log', async () => {
  const clock = { now: at('2026-01-01T12:30:00Z') };
  const lastLook = () => Promise.resolve(at('2026-01-01T09:30:00Z'));
  const pipelines = [pipeline('{cron: "0 * * * *"}')];
  const { scheduler, fired, missed, warned } = clockwork({ pipelines, clock, lastLook });
  await scheduler.start();
  await scheduler.look();
  await scheduler.stop();
  expect(fired).toEqual([]);
  expect(missed).toEqual(['2026-01-01T12:00:00.000Z', '2026-01-01T11:00:00.000Z', '2026-01-01T10:00:00.000Z']);
  expect(warned).toEqual([{ pipeline: 'p', scheduled_for: '2026-01-01T12:00:00.000Z', missed: 3 }]);
});

test('of several that a restart catches up with the latest starts, the others were missed', async () => {
  const clock = { now: at('2026-01-01T12:30:00Z') };
  const lastLook = () => Promise.resolve(at('2026-01-01T09:30:00Z'));
  const pipelines = [pipeline('{cron: "0 * * * *"}')];
  const { scheduler, fired, missed } = clockwork({ pipelines, clock, lastLook, catchUpSeconds: 2 * 3600 });
  await scheduler.start();
  await scheduler.stop();
  expect(fired).toEqual(['2026-01-01T12:00:00.000Z']);
  expect(missed.toSorted()).toEqual(['2026-01-01T10:00:00.000Z', '2026-01-01T11:00:00.000Z']);
});

test('what fell into a pause of the process was missed too, unless another process started it', async () => {
  const clock = { now: at('2026-01-01T09:59:00Z') };
  const pipelines = [pipeline('{cron: "0 * * * *"}'), pipeline('{cron: "0 * * * *"}', 'suspend: true')];
  const { scheduler, fired, missed } = clockwork({ pipelines, clock, taken: ['2026-01-01T10:00:00Z'] });
  await scheduler.look();
  clock.now = at('2026-01-01T11:30:00Z');
  await scheduler.look();
  expect(fired).toEqual([]);
  expect(missed).toEqual(['2026-01-01T11:00:00.000Z']);
});

const named = (name: string): LoadedPipeline => ({ ...pipeline('{cron: "0 * * * *"}'), name });
const broken = { fire: 'a template that throws' };

test('a schedule that cannot be started leaves the others of its look alone, and is tried again', async () => {
  const clock = { now: at('2026-01-01T11:59:59Z') };
  const fired: string[] = [];
  const pipelines = ['a', 'broken', 'c'].map(named);
  let isBroken = true;
  const fire: SchedulerDeps['fire'] = ({ name }) => {
    if (name === 'broken' && isBroken) throw new Error(broken.fire);
    const started = !fired.includes(name);
    if (started) fired.push(name);
    return Promise.resolve(started ? { started, runId: name } : { started, reason: 'taken' });
  };
  const { scheduler, warned } = clockwork({ pipelines, clock, fire });
  await scheduler.look();
  clock.now += 2_000;
  await expect(scheduler.look()).rejects.toThrow(broken.fire);
  expect(fired).toEqual(['a', 'c']);
  expect(warned).toEqual([{ err: new Error(broken.fire), pipeline: 'broken' }]);
  isBroken = false;
  clock.now += 1_000;
  await scheduler.look();
  expect(fired).toEqual(['a', 'c', 'broken']);
});

test('a schedule whose missed times cannot be recorded does not stop the clock', async () => {
  const clock = { now: at('2026-01-01T12:30:00Z') };
  const lastLook = () => Promise.resolve(at('2026-01-01T09:30:00Z'));
  const recorded: string[] = [];
  const takeMissed: SchedulerDeps['takeMissed'] = (name, fires) => {
    if (name === 'broken') throw new Error(broken.fire);
    recorded.push(name);
    return Promise.resolve(fires.length);
  };
  const pipelines = ['a', 'broken', 'c'].map(named);
  const { scheduler, fired } = clockwork({ pipelines, clock, lastLook, takeMissed });
  await scheduler.start();
  await scheduler.stop();
  expect(recorded).toEqual(['a', 'c']);
  clock.now = at('2026-01-01T12:59:59Z');
  await scheduler.look().catch(() => undefined);
  clock.now = at('2026-01-01T13:00:00Z');
  await scheduler.look();
  expect(fired.length).toBe(3);
});

const LEAP_DAYS = '{cron: "0 0 29 2 +1", timezone: Europe/Berlin}';

test('other work gets between the schedules of a look, which searches for none that it knows', async () => {
  const clock = { now: at('2026-01-01T11:59:30Z') };
  const pipelines = Array.from({ length: 100 }, () => pipeline(LEAP_DAYS));
  const { scheduler } = clockwork({ pipelines, clock });
  let turns = 0;
  const counting = setInterval(() => (turns += 1));
  onTestFinished(() => clearInterval(counting));
  await scheduler.look();
  expect(turns).toBeGreaterThan(0);
  const searches = vi.spyOn(Cron.prototype, 'nextRun');
  const before = vi.spyOn(Cron.prototype, 'previousRuns');
  onTestFinished(() => void vi.restoreAllMocks());
  clock.now += 1_000;
  await scheduler.look();
  expect(scheduler.list()).toHaveLength(100);
  expect([searches.mock.calls.length, before.mock.calls.length]).toEqual([0, 0]);
});

test('a clock that was set back fires again what it comes to, though it knows a later time', async () => {
  const clock = { now: at('2026-01-01T11:59:30Z') };
  const { scheduler, fired } = clockwork({ pipelines: [pipeline('{cron: "0 * * * *"}')], clock });
  for (const text of ['11:59:40', '12:00:01', '10:59:30', '11:00:01', '11:59:30', '12:00:01']) {
    clock.now = at(`2026-01-01T${text}Z`);
    await scheduler.look();
  }
  expect(fired.map((time) => time.slice(11, 16))).toEqual(['12:00', '11:00', '12:00']);
});
