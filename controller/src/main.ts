import { refuseUsage } from '@signalbox/crds/process/command-line';
import { logRejections, stopOnSignals } from '@signalbox/crds/process/stop-on-signals';
import packageJson from '../package.json' with { type: 'json' };
import { HELP, readCommand } from './cli.ts';
import { readFailpoint } from './failpoints.ts';
import { connectCluster } from './kube/cluster.ts';
import { createLog, type Log } from './observability/log.ts';
import type { Role } from './sync.ts';

const BAD_START = 2;

const reach = readFailpoint(process.env['SIGNALBOX_FAILPOINT']);
const connect = () =>
  connectCluster({ now: Date.now, env: process.env, ...(reach ? { step: () => reach('api') } : {}) });

/** Runs the command line. Only the wanted role is loaded. Returns the exit code, or null while a role runs. */
async function main(argv: readonly string[]): Promise<number | null> {
  const command = readCommand(argv);
  switch (command.role) {
    case 'help':
      process.stdout.write(HELP);
      return 0;
    case 'version':
      process.stdout.write(`${packageJson.version}\n`);
      return 0;
    case 'error':
      return refuseUsage('controller', command.message, HELP);
    case 'sync': {
      const log = createLog('sync');
      const { startSync } = await import('./sync.ts');
      return run(log, () =>
        startSync(command.options, { log, cluster: connect(), ...(reach ? { fileStep: () => reach('file') } : {}) }),
      );
    }
    case 'manager': {
      const log = createLog('manager');
      const { startManager } = await import('./manager.ts');
      return run(log, () => startManager(command.options, { log, cluster: connect() }));
    }
    default:
      return command satisfies never;
  }
}

async function run(log: Log, start: () => Promise<Role>): Promise<number | null> {
  logRejections(log);
  let role: Role;
  try {
    role = await start();
  } catch (error) {
    return refuse(error instanceof Error ? error.message : String(error));
  }
  stopOnSignals(role, log);
  // After the signal handlers: a program that waits for this line may send a signal at once.
  log.info({ url: role.url, version: packageJson.version }, 'listening');
  return null;
}

function refuse(message: string): number {
  process.stderr.write(`controller: ${message.replace(/\s+/g, ' ')}\n`);
  return BAD_START;
}

const exitCode = await main(process.argv.slice(2));
if (exitCode !== null) process.exit(exitCode);
