import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { checkCase } from './check-case.ts';
import { TARGETS } from './targets.ts';

const CASES = join(import.meta.dirname, 'cases');
const files = readdirSync(CASES).filter((file) => file.endsWith('.json'));

test.each(files)('%s, which failed once, does not fail', (file) => {
  const { target: name, value } = JSON.parse(readFileSync(join(CASES, file), 'utf8')) as {
    target: string;
    value: unknown;
  };
  const target = TARGETS.find((one) => one.name === name);
  if (!target) throw new Error(`no target is named ${name}`);
  checkCase(target, value);
});

test.each(TARGETS.map((target) => ({ name: target.name, target })))('$name: a few cases by chance', ({ target }) => {
  fc.assert(
    fc.property(target.cases, (value) => checkCase(target, value)),
    { numRuns: 50 },
  );
});

test('what throws, and what takes too long, fails', () => {
  const [target] = TARGETS;
  const throwing = {
    ...target!,
    run: () => {
      throw new Error('broken');
    },
  };
  expect(() => checkCase(throwing, null)).toThrow('broken');
  const endless = {
    ...target!,
    run: () => {
      const end = process.cpuUsage().user + 3_200_000;
      while (process.cpuUsage().user < end);
    },
  };
  expect(() => checkCase(endless, null)).toThrow('of processor time');
});
