import packageJson from '../../package.json' with { type: 'json' };
import { createLog } from '../observability/log.ts';
import { startRunner } from './runner.ts';
import { readRunnerSettings } from './settings.ts';

const HELP = `signalbox agent-runner: runs one agent in its own pod, for the gateway

Settings are environment variables, none of them secret:
  AGENT_NAME            the agent
  GATEWAY_PUBLIC_KEY    PEM; connections with a token of this key are let in (several keys possible)
  RUNNER_HOST           address to listen on (0.0.0.0)
  RUNNER_PORT           port to listen on (18781)
  RUNNER_DRAIN_SECONDS  how long runs may go on after SIGTERM (25)
  LOG_LEVEL             debug, info, warn or error (info)

GET /health is for probes. SIGTERM lets runs end and stops.
`;

/** Starts the runner; returns an exit code only where it does not start. */
export async function main(argv: readonly string[], env: NodeJS.ProcessEnv): Promise<number | null> {
  if (argv.length > 0) {
    process.stdout.write(HELP);
    return argv.includes('--help') || argv.includes('-h') ? 0 : 2;
  }
  const read = readRunnerSettings(env);
  if (!read.ok) {
    process.stderr.write(`agent-runner: ${read.message}\n`);
    return 2;
  }
  const log = createLog(read.settings.logLevel, 'agent-runner');
  const runner = await startRunner({ settings: read.settings, version: packageJson.version, log });
  log.info({ url: runner.url, agent: read.settings.agent }, 'listening');
  let stopping = false;
  const stop = (signal: string) => {
    if (stopping) return;
    stopping = true;
    log.info({ signal }, 'stopping');
    runner.close().then(
      () => process.exit(0),
      (error: unknown) => {
        log.error({ err: error }, 'stopping failed');
        process.exit(1);
      },
    );
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
  process.on('unhandledRejection', (error) => log.error({ err: error }, 'unhandled rejection'));
  return null;
}
