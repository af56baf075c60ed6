import { describe, expect, test } from 'vitest';
import { chooseMessages, EVENT_OF } from './choose.ts';
import { pipelineOf, STEP } from './fixtures/run.ts';
import type { NotificationEvent } from './message.ts';

const EVENTS: NotificationEvent[] = ['escalate', 'abort', 'stop', 'fail', 'complete', 'approval'];
const OTHER: Record<string, NotificationEvent> = {
  escalate: 'abort',
  abort: 'stop',
  stop: 'fail',
  fail: 'complete',
  complete: 'approval',
  approval: 'escalate',
};
const say = (event: NotificationEvent, template: string) => ({ [event]: [{ channel: 'log', template }] });

/** The levels at which messages can be written, from the inside out, for a step that stands alone, in a group, in a fan-out. */
const SHAPES = {
  step: {
    name: 'look',
    build: (own: object, group: object) => [{ name: 'look', ...STEP, ...own, ...group }],
    levels: ['own', 'pipeline'],
  },
  branch: {
    name: 'metrics',
    build: (own: object, group: object) => [
      { name: 'gather', ...group, parallel: { steps: [{ name: 'metrics', ...STEP, ...own }] } },
    ],
    levels: ['own', 'group', 'pipeline'],
  },
  'fan-out branch': {
    name: 'per-service/3',
    build: (own: object, group: object) => [
      { name: 'per-service', ...group, fan_out: { over: '[1]', step: { ...STEP, ...own } } },
    ],
    levels: ['own', 'group', 'pipeline'],
  },
} as const;

const rows = EVENTS.flatMap((event) =>
  Object.entries(SHAPES).flatMap(([shape, { levels }]) =>
    levels.flatMap((_, from) => [
      { event, shape: shape as keyof typeof SHAPES, written: levels.slice(from), wins: levels[from] },
    ]),
  ),
);

test.each(rows)('$event of a $shape, written at $written: $wins is sent', ({ event, shape, written, wins }) => {
  const { name, build } = SHAPES[shape];
  const at = (level: string) =>
    (written as readonly string[]).includes(level) ? { notifications: say(event, level) } : {};
  const pipeline = pipelineOf({ steps: build(at('own'), at('group')), ...at('pipeline') });
  expect(chooseMessages(pipeline, name, event).map(({ template }) => template)).toEqual([wins]);
});

test.each(EVENTS)('%s: a step that speaks of another event leaves this one to the pipeline', (event) => {
  const other = OTHER[event] as NotificationEvent;
  const pipeline = pipelineOf({
    steps: [{ name: 'look', ...STEP, notifications: say(other, 'step') }],
    notifications: say(event, 'pipeline'),
  });
  expect(chooseMessages(pipeline, 'look', event).map(({ template }) => template)).toEqual(['pipeline']);
});

test.each(EVENTS)('%s: an empty list of a step keeps the pipeline silent', (event) => {
  const pipeline = pipelineOf({
    steps: [{ name: 'look', ...STEP, notifications: { [event]: [] } }],
    notifications: say(event, 'pipeline'),
  });
  expect(chooseMessages(pipeline, 'look', event)).toEqual([]);
});

describe('an event that nobody wrote messages for', () => {
  test.each(EVENTS)('%s sends nothing', (event) => {
    expect(chooseMessages(pipelineOf(), 'look', event)).toEqual([]);
    expect(chooseMessages(pipelineOf(), null, event)).toEqual([]);
    expect(chooseMessages(pipelineOf(), 'gone', event)).toEqual([]);
  });
});

test('a run that ends without a step at fault is the pipeline’s matter', () => {
  const pipeline = pipelineOf({
    steps: [{ name: 'look', ...STEP, notifications: say('fail', 'step') }],
    notifications: say('fail', 'pipeline'),
  });
  expect(chooseMessages(pipeline, null, 'fail').map(({ template }) => template)).toEqual(['pipeline']);
});

test('every end of a run has its event, but a cancelled one is silent', () => {
  expect(EVENT_OF).toEqual({
    completed: 'complete',
    stopped: 'stop',
    escalated: 'escalate',
    aborted: 'abort',
    failed: 'fail',
    cancelled: null,
  });
});
