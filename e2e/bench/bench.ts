import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { scratchDirectory } from '../support/scratch.ts';
import type { Benchmark, Figure } from './benchmark.ts';
import { holds } from './benchmark.ts';
import { BENCHMARKS } from './benchmarks.ts';
import { describeMachine } from './machine.ts';
import { printTable } from './report.ts';
import { startApiServer, startBareServer, startGatewayProcess, startLoadGenerator } from './services.ts';

const HELP = `npm run bench -- [options]

Measures the api-server against a bare server that keeps the same promise with the least work, in one run, and prints
ratios with their limits. Figures depend on what else the machine does: run it on a quiet one.

  --only NAME     one benchmark, may be repeated
  --seconds N     length of a round of steady load (3)
  --rounds N      rounds of each side, medians are taken (5)
  --json FILE     also write the figures there
  --self          measure the bare server against itself: how far from 1.0x is noise here
  --strict        exit 1 where a limit is missed
  --help

${BENCHMARKS.map(({ name, about }) => `  ${name.padEnd(14)}  ${about}`).join('\n')}
`;

interface Outcome {
  benchmark: string;
  figures: Figure[];
  leftOut?: string;
}

const { values } = parseArgs({
  options: {
    only: { type: 'string', multiple: true, default: [] },
    seconds: { type: 'string', default: '3' },
    rounds: { type: 'string', default: '5' },
    json: { type: 'string' },
    self: { type: 'boolean', default: false },
    strict: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

async function main(): Promise<number> {
  if (values.help) {
    console.log(HELP);
    return 0;
  }
  const unknown = values.only.find((name) => !BENCHMARKS.some((benchmark) => benchmark.name === name));
  const [seconds, rounds] = [Number(values.seconds), Number(values.rounds)];
  if (unknown !== undefined || !(seconds > 0) || !Number.isInteger(rounds) || rounds < 1) {
    console.error(unknown === undefined ? '--seconds and --rounds take positive numbers' : `no benchmark is named ${unknown}\n\n${HELP}`);
    return 2;
  }
  using scratch = scratchDirectory('signalbox-bench-');
  const machine = describeMachine(scratch.path);
  console.log(
    `Node ${machine.node}, ${machine.cores} x ${machine.cpu}, ${machine.memory_gb} GB, load ${machine.load}, fsync ${machine.fsync_ms} ms\n`,
  );
  const chosen = BENCHMARKS.filter(({ name }) => values.only.length === 0 || values.only.includes(name));
  const outcomes: Outcome[] = [];
  for (const benchmark of chosen) outcomes.push(await measure(benchmark, scratch.path, { seconds, rounds }));
  printTable(outcomes);
  if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify({ machine, outcomes }, null, 2)}\n`);
  const missed = outcomes.flatMap(({ figures }) => figures).filter((figure) => !holds(figure));
  return values.strict && missed.length > 0 ? 1 : 0;
}

/** Each benchmark gets fresh processes, so that none inherits the heap of the one before. */
async function measure(benchmark: Benchmark, place: string, { seconds, rounds }: { seconds: number; rounds: number }): Promise<Outcome> {
  console.log(`${benchmark.name}: ${benchmark.about}`);
  const directory = join(place, benchmark.name);
  mkdirSync(directory);
  const gateway = await startGatewayProcess();
  const load = startLoadGenerator();
  const startService = values.self ? startBareServer : startApiServer;
  const progress = (text: string): void => console.log(`  ${text}`);
  try {
    const result = await benchmark.run({ directory, startService, gateway, load, seconds, rounds, progress });
    if (Array.isArray(result)) return { benchmark: benchmark.name, figures: result };
    progress(`left out: ${result.leftOut}`);
    return { benchmark: benchmark.name, figures: [], leftOut: result.leftOut };
  } finally {
    await Promise.all([gateway.stop(), load.stop()]);
  }
}

process.exitCode = await main();
