import { readOptions as optionsOf } from '@signalbox/crds/process/command-line';
import { z } from 'zod';
import { openDatabases } from './databases.ts';
import { fullPlan, runAll, shortPlan } from './plan.ts';
import { runRound, tracePoints } from './round.ts';

const HELP = `node e2e/faults/failpoints.ts [options]

Runs pipelines of every shape once and records each point where the engine's state changes: before and after every commit,
before and after every outgoing call. Then kills the service at each point, restarts it, lets it finish, and
checks the rows: no run lost, no completed step repeated, everything ended, roll-ups equal to a full scan. Exit 1
when a check fails.

  --database KIND   sqlite or postgres (sqlite)
  --stride N        every N-th point (1)
  --short           each kind of point once, all in one round (used by the tests)
  --then N          also kills the second start, at its N-th point
  --at-a-time N     services at the same time (2)
  --help
`;

const Options = z.object({
  database: z.enum(['sqlite', 'postgres']),
  stride: z.coerce.number().int().positive(),
  short: z.boolean(),
  then: z.coerce.number().int().positive().optional(),
  'at-a-time': z.coerce.number().int().positive(),
  help: z.boolean(),
});

function readOptions(): z.infer<typeof Options> | undefined {
  const { values } = optionsOf('failpoints', HELP, {
    options: {
      database: { type: 'string', default: 'sqlite' },
      stride: { type: 'string', default: '1' },
      short: { type: 'boolean', default: false },
      then: { type: 'string' },
      'at-a-time': { type: 'string', default: '2' },
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
  await using databases = await openDatabases(options.database);
  const trace = await tracePoints(databases.fresh);
  const again = options.then === undefined ? [] : [`any:${options.then}`];
  const rounds = (options.short ? [shortPlan(trace)] : fullPlan(trace, options.stride)).map((kills) => [
    ...kills,
    ...again,
  ]);
  console.log(`${trace.length} points reached, ${rounds.length} rounds on ${options.database}`);
  const begun = performance.now();
  const total = { deaths: 0, violations: 0 };
  await runAll(rounds, {
    atATime: options['at-a-time'],
    run: async (kills) => {
      const { died, violations } = await runRound({ database: databases.fresh, kills });
      total.deaths += died;
      total.violations += violations.length;
      for (const violation of violations) console.log(`${kills.join(', ')}: ${violation}`);
    },
  });
  const seconds = ((performance.now() - begun) / 1000).toFixed(0);
  console.log(
    `${total.deaths} kills in ${seconds} s, violations: ${total.violations === 0 ? 'none' : total.violations}`,
  );
  return total.violations > 0 ? 1 : 0;
}

process.exitCode = await main();
