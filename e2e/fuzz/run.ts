import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readOptions, refuseUsage } from '@signalbox/crds/process/command-line';
import fc from 'fast-check';
import { checkCase } from './check-case.ts';
import { type Target, TARGETS } from './targets.ts';

const RUNS = 100;
const CASES = join(import.meta.dirname, 'cases');
const HELP = `npm run fuzz [-- OPTIONS]

Gives what others may write, made by chance, to what reads it, in turns until the time is over. Prints the seed of every turn that fails,
and keeps the smallest failing case in e2e/fuzz/cases, where a test repeats it from then on. Exit code 1 where something failed.

  --minutes N     how long (3)
  --only TARGET   one of ${TARGETS.map(({ name }) => name).join(', ')}
  --seed N        the first seed, to repeat a turn
  --help          print this
`;
const { values } = readOptions('fuzz', HELP, {
  options: {
    minutes: { type: 'string', default: '3' },
    only: { type: 'string' },
    seed: { type: 'string' },
    help: { type: 'boolean' },
  },
});
if (values.help) {
  process.stdout.write(HELP);
  process.exit();
}

const until = Date.now() + Number(values.minutes) * 60_000;
const chosen = TARGETS.filter(({ name }) => values.only === undefined || name === values.only);
const isNumber = [values.minutes, values.seed ?? '0'].every((text) => /^\d+(\.\d+)?$/.test(text));
if (chosen.length === 0 || !isNumber) {
  const problem = isNumber ? `--only ${values.only}: no such target` : '--minutes and --seed are numbers';
  process.exit(refuseUsage('fuzz', problem, HELP));
}
const counts = new Map(chosen.map(({ name }) => [name, 0]));
const failed = new Set<string>();
let seed = Number(values.seed ?? Date.now() % 2 ** 31);
console.log(`first seed ${seed}`);
while (Date.now() < until && failed.size < chosen.length) {
  for (const target of chosen) if (!failed.has(target.name)) turn(target, seed);
  seed += 1;
}
for (const [name, count] of counts) console.log(`${failed.has(name) ? 'FAILED' : 'ok    '} ${name}: ${count} cases`);
process.exitCode = failed.size === 0 ? 0 : 1;

function turn(target: Target, turnSeed: number): void {
  const { name, cases } = target;
  const property = fc.property(cases, (value) => checkCase(target, value));
  const result = fc.check(property, { seed: turnSeed, numRuns: RUNS, endOnFailure: false });
  counts.set(name, (counts.get(name) ?? 0) + result.numRuns);
  if (!result.failed) return;
  failed.add(name);
  const [value] = result.counterexample ?? [];
  const text = `${JSON.stringify({ target: name, value }, null, 2)}\n`;
  const file = `${name}-${createHash('sha256').update(text).digest('hex').slice(0, 8)}.json`;
  writeFileSync(join(CASES, file), text);
  console.error(
    `${name}: seed ${turnSeed}, path ${result.counterexamplePath}: ${String(result.errorInstance)}; kept as cases/${file}`,
  );
}
