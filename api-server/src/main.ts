import { readArguments, refuseUsage } from '@signalbox/crds/process/command-line';
import { stopOnSignals } from '@signalbox/crds/process/stop-on-signals';
import packageJson from '../package.json' with { type: 'json' };
import { loadConfig } from './config/load.ts';
import { createPipelineEnv } from './config/pipeline-env.ts';
import { readFailpoints } from './boot/failpoints.ts';
import { createLogs, type Logs } from './observability/logger.ts';
import { createService, type Service } from './boot/service.ts';

const USAGE = `signalbox api-server: takes webhooks, runs pipelines, stores the evidence

usage: npm run api-server -- --config FILE

  --config FILE   configuration (YAML); docs/configuration.md has every key
  --version       print the version
  --help          print this

SIGHUP reloads pipelines and library steps. SIGTERM waits for active runs, then stops.
`;

type Environment = Readonly<Record<string, string | undefined>>;

/** Runs the service in the foreground until SIGTERM or SIGINT. */
export async function main(args: string[], env: Environment): Promise<void> {
  const asked = readArguments(args, { usage: USAGE, version: packageJson.version });
  if (asked.kind === 'error') return void (process.exitCode = refuseUsage('api-server', asked.message, USAGE));
  if (asked.kind === 'print') return void process.stdout.write(asked.text);
  const loaded = loadConfig(asked.config, env);
  if (!loaded.ok) return fail(loaded.message);
  const { config, warnings } = loaded;
  const logs = createLogs(config.logging);
  endOnSurprise(process, logs, process.exit);
  for (const warning of warnings) logs.log.warn(warning);
  try {
    const service = await createService({
      config,
      version: packageJson.version,
      logs,
      failpoints: readFailpoints(env['SIGNALBOX_FAILPOINT']),
      pipelineEnv: createPipelineEnv(config.security.pipelineEnv, env),
    });
    stopOnSignals(service, logs.log);
    reloadOnSignal(service, logs.log);
    const url = await service.listen();
    logs.log.info({ url, version: packageJson.version }, 'listening');
  } catch (error) {
    fail(error instanceof Error ? error.message : String(error));
  }
}

function fail(message: string): void {
  process.stderr.write(`api-server: ${message}\n`);
  process.exitCode = 1;
  // A failed start must not leave the process running.
  setImmediate(() => process.exit());
}

/** Also receives unhandled rejections. The stored state is consistent, so a restart is safer than to continue. */
export function endOnSurprise(
  source: Pick<NodeJS.EventEmitter, 'once'>,
  { log, close }: { log: { error(fields: object, message: string): void }; close: Logs['close'] },
  exit: (code: number) => void,
): void {
  const end = async (surprise: unknown) => {
    log.error({ err: surprise }, 'unexpected error: the service exits; the next start resumes its runs');
    await close().catch(() => undefined);
    exit(1);
  };
  source.once('uncaughtException', (surprise: unknown) => void end(surprise));
}

function reloadOnSignal(service: Service, log: Logs['log']): void {
  process.on('SIGHUP', () => {
    service
      .reload()
      .catch((error: unknown) => log.error({ err: error }, 'the reload failed; the loaded definitions stay in use'));
  });
}
