import { readOptions as optionsOf } from '@signalbox/crds/process/command-line';
import { z } from 'zod';
import { compileShim } from '../shim/shim.ts';
import { type CrashReport, runCrashRounds } from './rounds.ts';
import type { Violation } from './ledger.ts';
import { Failpoint } from './service.ts';

const HELP = `node e2e/crash/crash.ts [options]

Starts the api-server, sends webhooks, kills it with SIGKILL at a random moment, restarts it, and so on. At the end
every webhook that was answered 202 must have a run in a terminal state, and no completed step may have been executed
twice. Exit 1 when a check fails.

  --rounds N        kills (200)
  --seed N          seed of the random moments (a random one)
  --power-cut       each kill also drops what was not fsynced (needs Linux and a C compiler)
  --failpoint NAME  starts the service with a fault, to show that this script can fail:
                    step_row_late (repeats completed steps), synchronous_normal (with --power-cut: loses webhooks)
  --help
`;

const SHOWN_VIOLATIONS = 10;

const Options = z.object({
  rounds: z.coerce.number().int().positive(),
  seed: z.coerce.number().int().nonnegative(),
  'power-cut': z.boolean(),
  failpoint: Failpoint.optional(),
  help: z.boolean(),
});
type Options = z.infer<typeof Options>;

function readOptions(): Options | undefined {
  const { values } = optionsOf('crash', HELP, {
    options: {
      rounds: { type: 'string', default: '200' },
      seed: { type: 'string', default: String(Date.now() % 1_000_000) },
      'power-cut': { type: 'boolean', default: false },
      failpoint: { type: 'string' },
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
  const shim = options['power-cut'] ? compileShim() : undefined;
  if (shim && !shim.ok) {
    console.log(`left out: ${shim.reason}`);
    return 0;
  }
  const { rounds, seed, failpoint } = options;
  const begun = performance.now();
  const report = await runCrashRounds({ rounds, seed, failpoint, powerCutWith: shim?.path, onRound: showProgress });
  const seconds = (performance.now() - begun) / 1000;
  console.log(summary(report, { seed, seconds, powerCut: shim !== undefined, failpoint }));
  return report.violations.length > 0 ? 1 : 0;
}

function showProgress(round: number, { accepted, violations }: CrashReport): void {
  if (round % 10 === 0) console.log(`${round} kills, ${accepted} webhooks accepted, ${violations.length} violations`);
}

interface Run {
  seed: number;
  seconds: number;
  powerCut: boolean;
  failpoint: Failpoint | undefined;
}

function summary(report: CrashReport, { seed, seconds, powerCut, failpoint }: Run): string {
  const { kills, violations } = report;
  const counted: Record<string, number> = {};
  for (const violation of violations) counted[nameOf(violation)] = (counted[nameOf(violation)] ?? 0) + 1;
  const lines = [
    `seed ${seed}, ${seconds.toFixed(0)} s${powerCut ? ', each kill with a power cut' : ''}${failpoint ? `, failpoint ${failpoint}` : ''}`,
    `kills                    ${kills.loaded} under load, ${kills.starting} while starting`,
    `webhooks accepted        ${report.accepted}, ${report.sentAgain} sent again after a lost answer`,
    `runs found interrupted   ${report.interrupted}`,
    `steps executed           ${report.calls}, ${report.repeats} again because they were in flight`,
    `violations               ${
      violations.length === 0
        ? 'none'
        : Object.entries(counted)
            .map(([kind, count]) => `${count} ${kind}`)
            .join(', ')
    }`,
    ...violations.slice(0, SHOWN_VIOLATIONS).map((violation) => `  ${JSON.stringify(violation)}`),
  ];
  return lines.join('\n');
}

const nameOf = (violation: Violation): string =>
  violation.kind === 'repeated_step' ? `${violation.kind} (${violation.seen})` : violation.kind;

process.exitCode = await main();
