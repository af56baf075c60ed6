import { stripVTControlCharacters } from 'node:util';
import { expect, test } from 'vitest';
import { type Frame, RunLines } from './run-lines.ts';
import { clip, wrap } from './terminal.ts';

const at = (seconds: number) => new Date(seconds * 1000).toISOString();

function shown(...frames: Frame[]): string[] {
  const lines = new RunLines();
  return frames.flatMap((frame) => lines.lines(frame)).map((line) => stripVTControlCharacters(line).trimEnd());
}

const started: Frame = { event: 'step_started', ts: at(0), step_name: 'observe', executor: 'gateway', agent: 'reader' };

test('a step shows who is asked, its tools, its trust against the threshold and how long it took', () => {
  const tool = {
    event: 'tool_result',
    server: 'machine',
    tool: 'read_load',
    result: '{"load":1.5}',
    duration_ms: 12.4,
  };
  const ended = { event: 'step_completed', ts: at(2.25), step_name: 'observe', trust: 0.95, threshold: 0.7 };
  expect(shown(started, { event: 'tool_call' }, tool, ended)).toEqual([
    '',
    '● observe        gateway · reader',
    '    → machine/read_load          12 ms  load 1.5',
    '    ✓ trust ━━━━━━━╋━━ 0.95  passes 0.70  2.3 s',
  ]);
});

test('a gate that was not passed is no success', () => {
  const ended = { event: 'step_escalated', ts: at(1), step_name: 'observe', trust: 0.34, threshold: 0.75 };
  expect(shown(started, ended).at(-1)).toBe('    ◆ trust ━━━╌╌╌╌┼╌╌ 0.34  below 0.75  1.0 s');
});

test('a failure without trust says what it is', () => {
  const ended = { event: 'step_failed', ts: at(1), step_name: 'observe', trust: null, threshold: null };
  expect(shown(started, ended).at(-1)).toBe('    ✗ failed  1.0 s');
});

test('what a tool or an agent says stays on its line and does not steer the terminal', () => {
  const hostile = `\u001B]0;title\u0007\u001B[2Jred\r\n${'long '.repeat(500)}`;
  for (const line of [clip(hostile, 80), ...wrap(hostile, 80)]) {
    expect(line).not.toMatch(/[\u0000-\u001f]/);
    expect(line.length).toBeLessThanOrEqual(80);
  }
});
