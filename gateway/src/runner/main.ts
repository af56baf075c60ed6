import { refuseUsage } from '@signalbox/crds/process/command-line';
import { logRejections, stopOnSignals } from '@signalbox/crds/process/stop-on-signals';
import packageJson from '../../package.json' with { type: 'json' };
import { createLog } from '../observability/log.ts';
import { startRunner } from './runner.ts';
import { readRunnerSettings } from './settings.ts';

const HELP = `signalbox agent-runner: runs one agent in its own pod, for the gateway

Settings are environment variables, none of them secret:
  AGENT_NAME            the agent
  AGENT_NAMESPACE       of its object; tokens for an agent of another one are refused (any)
  GATEWAY_PUBLIC_KEY    PEM; connections need a token signed with this key (several keys possible)
  RUNNER_HOST           address to listen on (0.0.0.0)
  RUNNER_PORT           port to listen on (18781)
  RUNNER_DRAIN_SECONDS  how long runs may continue after SIGTERM (25)
  LOG_LEVEL             debug, info, warn or error (info)

GET /health is for probes. SIGTERM lets runs end and stops.
`;

/** Starts the runner; returns an exit code where it does not start, else null. */
export async function main(argv: readonly string[], env: NodeJS.ProcessEnv): Promise<number | null> {
  if (argv.includes('--help') || argv.includes('-h')) {
    process.stdout.write(HELP);
    return 0;
  }
  if (argv[0] !== undefined) return refuseUsage('agent-runner', `unknown argument ${argv[0]}`, HELP);
  const read = readRunnerSettings(env);
  if (!read.ok) {
    process.stderr.write(`agent-runner: ${read.message}\n`);
    return 2;
  }
  const log = createLog(read.settings.logLevel, 'agent-runner');
  const { settings } = read;
  const started = await startRunner({ settings, version: packageJson.version, log }).catch((error: Error) => error);
  if (started instanceof Error) {
    process.stderr.write(`agent-runner: RUNNER_HOST, RUNNER_PORT: ${started.message}\n`);
    return 2;
  }
  logRejections(log);
  stopOnSignals(started, log);
  log.info({ url: started.url, agent: settings.agent }, 'listening');
  return null;
}
