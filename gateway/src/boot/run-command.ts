import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readArguments, refuseUsage } from '@signalbox/crds/process/command-line';
import { logRejections, stopOnSignals } from '@signalbox/crds/process/stop-on-signals';
import packageJson from '../../package.json' with { type: 'json' };
import { baseEnvironment } from '../config/base-environment.ts';
import { loadConfig } from '../config/load.ts';
import type { GatewayConfig } from '../config/schema.ts';
import { startGateway } from './start-gateway.ts';
import { loadTokens, tokenFile, type Tokens } from '../identity/device-auth.ts';
import { loadSigningKey, signingKeyFile } from '../identity/signing-key.ts';
import { createLog, type Log } from '../observability/log.ts';

const USAGE = `signalbox gateway: agents, models, tool servers and the tool policy

usage: npm run gateway -- --config FILE

  --config FILE   configuration (YAML); docs/configuration.md has every key
  --version       print the version
  --help          print this

SIGHUP reloads the agents and the certificate from disk. SIGTERM waits for active runs, then stops.
`;

const BAD_START = 2;

export interface Invocation {
  argv: readonly string[];
  env: NodeJS.ProcessEnv;
  /** Why other processes can read `env` in /proc; null where they cannot. */
  environmentShown: string | null;
}

/** Runs the command line; returns the exit code, or null while the service runs. */
export async function runCommand(invocation: Invocation): Promise<number | null> {
  const asked = readArguments(invocation.argv, { usage: USAGE, version: packageJson.version });
  if (asked.kind === 'error') return refuseUsage('gateway', asked.message, USAGE);
  if (asked.kind === 'run') return run(asked.config, invocation);
  process.stdout.write(asked.text);
  return 0;
}

async function run(configPath: string, { env, environmentShown }: Invocation): Promise<number | null> {
  const loaded = loadConfig(configPath, env);
  if (!loaded.ok) return refuse(loaded.message);
  const { config } = loaded;
  const loadedTokens = tokensOf(config, env);
  if (!loadedTokens.ok) return refuse(loadedTokens.message);
  const { tokens } = loadedTokens;
  const log = createLog(config.log.level);
  // Printed once, at any log level; afterwards they are in the file only.
  if (tokens.from === 'minted')
    createLog('info').info(
      { admin_token: tokens.admin, invoke_token: tokens.invoke },
      'tokens minted; they are not shown again',
    );
  sayOfFiles(config, tokens, log);

  const signing =
    config.runtime.mode === 'kubernetes'
      ? loadSigningKey({
          identityDir: config.identity_dir,
          pem: env['GATEWAY_SIGNING_KEY'],
          adminToken: env['GATEWAY_ADMIN_TOKEN'],
        })
      : null;
  if (signing && !signing.ok) return refuse(signing.message);

  const started = await startGateway({
    config,
    tokens,
    signingKey: signing?.key ?? null,
    version: packageJson.version,
    log,
    baseEnvironment: baseEnvironment(env),
    configPath,
    environmentShown,
  });
  if (!started.ok) return refuse(started.message);
  const { gateway } = started;
  process.on('SIGHUP', () => void gateway.reload());
  logRejections(log);
  stopOnSignals(gateway, log);
  log.info({ url: gateway.url }, 'listening');
  return null;
}

/** A file that is not used is not hidden from a tool server that made it after the gateway had started. */
function sayOfFiles({ identity_dir }: GatewayConfig, { from }: Tokens, log: Log): void {
  if (from === 'file') log.info({ path: tokenFile(identity_dir) }, 'tokens read from a file');
  if (from !== 'environment') return;
  for (const path of [tokenFile(identity_dir), signingKeyFile(identity_dir)].filter((file) => existsSync(file)))
    log.warn({ path }, 'not used while the environment has the tokens, and valid without them; delete it');
}

const tokensOf = (config: GatewayConfig, env: NodeJS.ProcessEnv) =>
  loadTokens({
    identityDir: config.identity_dir,
    adminToken: env['GATEWAY_ADMIN_TOKEN'],
    invokeToken: env['GATEWAY_INVOKE_TOKEN'],
    approveToken: env['GATEWAY_APPROVE_TOKEN'] || config.identity.approve_token,
    reloadToken: env['GATEWAY_RELOAD_TOKEN'] || config.identity.reload_token,
    mint: () => randomBytes(32).toString('base64url'),
  });

function refuse(message: string): number {
  process.stderr.write(`gateway: ${message.replace(/\s+/g, ' ')}\n`);
  return BAD_START;
}
