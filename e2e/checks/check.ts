/** `npm run check`: all static checks. */
import { readOptions } from '@signalbox/crds/process/command-line';
import { type Outcome, runCommand } from './run-command.ts';

const CHECKS: readonly { name: string; command: string; args: readonly string[] }[] = [
  { name: 'types', command: 'tsc', args: ['--noEmit', '-p', 'tsconfig.json'] },
  { name: 'lint', command: 'oxlint', args: [] },
  { name: 'walls', command: process.execPath, args: ['e2e/checks/walls-self-test.ts'] },
  { name: 'format', command: 'oxfmt', args: ['--check', '.'] },
  { name: 'unused', command: 'knip', args: [] },
  { name: 'generated', command: process.execPath, args: ['e2e/checks/generate.ts', '--check'] },
];

const AT_ONCE = 2;

const HELP = `npm run check [-- --fix]: ${CHECKS.map(({ name }) => name).join(', ')}; prints the seconds of each check and the output of failed ones

  --fix    formats the sources first
  --help   print this`;

function report(name: string, { ok, seconds, output }: Outcome): void {
  console.log(`${ok ? 'ok    ' : 'FAILED'}  ${name.padEnd(10)} ${seconds.toFixed(1).padStart(5)} s`);
  if (!ok) console.log(`\n${output.trim().replaceAll(/^/gm, '  ')}\n`);
}

async function runAll(): Promise<string[]> {
  const waiting = [...CHECKS];
  const failed: string[] = [];
  const work = async () => {
    for (let check = waiting.shift(); check; check = waiting.shift()) {
      const outcome = await runCommand(check.command, check.args);
      report(check.name, outcome);
      if (!outcome.ok) failed.push(check.name);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return failed;
}

const { values } = readOptions('check', HELP, {
  options: { fix: { type: 'boolean' }, help: { type: 'boolean' } },
});
if (values.help) {
  console.log(HELP);
  process.exit(0);
}
if (values.fix) await runCommand('oxfmt', ['.']);
const failed = await runAll();
console.log(failed.length === 0 ? 'check passed' : `check failed: ${failed.join(', ')}`);
process.exitCode = failed.length === 0 ? 0 : 1;
