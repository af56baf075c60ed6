import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readOptions as optionsOf } from '@signalbox/crds/process/command-line';
import { z } from 'zod';
import { scratchDirectory } from '../support/scratch.ts';
import type { Benchmark, Figure } from './benchmark.ts';
import { holds } from './benchmark.ts';
import { BENCHMARKS } from './benchmarks.ts';
import { historyBench } from './history/history.ts';
import { describeMachine } from './machine.ts';
import { printTable } from './report.ts';
import { startApiServer, startBareServer, startGatewayProcess, startLoadGenerator } from './services.ts';

const HELP = `npm run bench -- [options]

Compares the api-server with a minimal server that gives the same guarantees, and the gateway with a minimal relay to the same
model, in one run, and prints ratios with their limits. Run it on a machine without other load.
\`npm run bench -- history --help\`: what reading costs after 90 days of runs.

  --only NAME     one benchmark, may be repeated
  --seconds N     seconds of steady load in each round (3)
  --rounds N      rounds for each side; the medians count (5)
  --json FILE     also write the figures to FILE
  --self          compare the bare server with itself; the distance from 1.0x is the noise of this machine
  --strict        exit 1 when a limit is missed
  --help

${BENCHMARKS.map(({ name, about }) => `  ${name.padEnd(14)}  ${about}`).join('\n')}
`;

const Options = z.object({
  only: z.array(z.enum(BENCHMARKS.map(({ name }) => name))),
  seconds: z.coerce.number().positive(),
  rounds: z.coerce.number().int().positive(),
  json: z.string().optional(),
  self: z.boolean(),
  strict: z.boolean(),
  help: z.boolean(),
});
type Options = z.infer<typeof Options>;

interface Outcome {
  benchmark: string;
  figures: Figure[];
  leftOut?: string;
}

function readOptions(): Options | undefined {
  const { values } = optionsOf('bench', HELP, {
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
  const parsed = Options.safeParse(values);
  if (!parsed.success) console.error(`${z.prettifyError(parsed.error)}\n`);
  return parsed.data;
}

async function main(): Promise<number> {
  const options = readOptions();
  if (options === undefined || options.help) {
    console.log(HELP);
    return options ? 0 : 2;
  }
  using scratch = scratchDirectory('signalbox-bench-');
  const machine = describeMachine(scratch.path);
  console.log(
    `Node ${machine.node}, ${machine.cores} x ${machine.cpu}, ${machine.memory_gb} GB, load ${machine.load}, fsync ${machine.fsync_ms} ms\n`,
  );
  const chosen = BENCHMARKS.filter(({ name }) => options.only.length === 0 || options.only.includes(name));
  const outcomes: Outcome[] = [];
  for (const benchmark of chosen) outcomes.push(await measure(benchmark, scratch.path, options));
  printTable(outcomes);
  if (options.json !== undefined) writeFileSync(options.json, `${JSON.stringify({ machine, outcomes }, null, 2)}\n`);
  const missed = outcomes.flatMap(({ figures }) => figures).filter((figure) => !holds(figure));
  return options.strict && missed.length > 0 ? 1 : 0;
}

/** Each benchmark gets fresh processes, so that none inherits the heap of the one before. */
async function measure(benchmark: Benchmark, place: string, { seconds, rounds, self }: Options): Promise<Outcome> {
  console.log(`${benchmark.name}: ${benchmark.about}`);
  const directory = join(place, benchmark.name);
  mkdirSync(directory);
  const gateway = await startGatewayProcess();
  const load = startLoadGenerator();
  const startService = self ? startBareServer : startApiServer;
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

const [command, ...rest] = process.argv.slice(2);
process.exitCode = await (command === 'history' ? historyBench(rest) : main());
