/** `npm run demo`: sends an alert and follows its run, on this machine and without a key. */
import { appendFileSync, mkdirSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { refuseUsage } from '@signalbox/crds/process/command-line';
import { call } from '../support/call.ts';
import type { Change } from '../support/local-config.ts';
import { type LocalServices, startLocalServices } from '../support/local-services.ts';
import type { Service, ServiceKind } from '../support/start-service.ts';
import { DISK_FILLING, HIGH_LOAD } from './alert.ts';
import { KEY_VARIABLES, liveChange, liveProvider } from './live.ts';
import { type DemoOptions, HELP, readCommand } from './options.ts';
import { DeliveryRefused, type EndedRun, repeat, sendAndFollow } from './send-alert.ts';
import { bold, dim, green, heading, print, red, seconds, yellow } from './terminal.ts';

const PREFERRED_PORTS: Record<ServiceKind, number> = { gateway: 18_780, 'api-server': 8000 };

/** The preferred port, or any where another program has it. */
function choosePort(preferred: number): Promise<number> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', () => resolve(0));
    probe.listen(preferred, '127.0.0.1', () => probe.close(() => resolve(preferred)));
  });
}

function introduce(model: string | null): void {
  print();
  print(bold('Signalbox demo'));
  if (model === null)
    print(yellow('No language model is used: the demo provider answers from a script. The tool calls are real.'));
  else print(yellow(`${model} answers. Its provider charges for it.`));
  print();
}

async function describe(kind: ServiceKind, service: Service, took: number): Promise<void> {
  const health = await call<Record<string, unknown>>(`${service.url}/health`);
  const more =
    kind === 'gateway'
      ? `${String(health.body.agents)} agents`
      : `up to ${String(health.body.max_concurrent_runs)} runs at a time`;
  print(green('✓'), ` ${kind.padEnd(12)}${service.url.padEnd(26)}${dim(`${more}, up in ${seconds(took)}`)}`);
}

function changeFor({ live, model, dataDir }: DemoOptions): { change: Change; name: string } | null {
  if (!live) return null;
  const provider = liveProvider(process.env, model);
  if (!provider) throw new DeliveryRefused(`--live needs a key in one of ${KEY_VARIABLES.join(', ')}`);
  return { change: liveChange(provider, dataDir), name: `${provider.name}/${provider.model}` };
}

async function start(options: DemoOptions): Promise<LocalServices> {
  const { dataDir } = options;
  const live = changeFor(options);
  introduce(live?.name ?? null);
  mkdirSync(dataDir, { recursive: true });
  const logFile = (kind: ServiceKind) => join(dataDir, `${kind}.log`);
  for (const kind of ['gateway', 'api-server'] as const) rmSync(logFile(kind), { force: true });
  let began = performance.now();
  return startLocalServices({
    dataDir,
    ports: {
      gateway: await choosePort(PREFERRED_PORTS.gateway),
      'api-server': await choosePort(PREFERRED_PORTS['api-server']),
    },
    change: live ? { gateway: live.change } : {},
    onLine: (kind, { raw }) => appendFileSync(logFile(kind), `${raw}\n`),
    onUp: async (kind, service) => {
      await describe(kind, service, performance.now() - began);
      began = performance.now();
    },
  });
}

/** Answers the run of the first alert. */
async function play(services: LocalServices, signal: AbortSignal): Promise<EndedRun> {
  heading('An alert arrives');
  const trusted = await sendAndFollow(services, HIGH_LOAD, signal);
  print();
  await repeat(services, HIGH_LOAD);
  heading('Another one, where the agent is not sure', 'its pipeline requires a trust of 0.75');
  await sendAndFollow(services, DISK_FILLING, signal);
  return trusted;
}

function printNext({ apiServer, gateway, tokens }: LocalServices, runId: string): void {
  print(bold('Open the run'));
  print('page      ', bold(`${apiServer.url}/ui/runs/${runId}`), dim('  sign in with a token:'));
  for (const role of ['admin', 'operator', 'viewer', 'webhook'] as const) print(`${role.padEnd(10)}${tokens[role]}`);
  print('gateway   ', gateway.url, dim(`  admin ${tokens.gateway_admin}`));
  heading('Try next');
  print(`curl -s -H 'Authorization: Bearer ${tokens.viewer}' ${apiServer.url}/runs`);
  print(`curl -s -H 'Authorization: Bearer ${tokens.webhook}' -H 'content-type: application/json' \\`);
  print(
    `  -d '{"pipeline":"deploy-check","summary":"checkout 1.42 is out","data":{"service":"checkout","release":"1.42"}}' \\`,
  );
  print(`  '${apiServer.url}/webhook?source=generic'`);
  if (!process.env.DEPLOY_REPORT_URL)
    print(
      dim('  DEPLOY_REPORT_URL is not set, so its step report fails and the run goes on; set it before npm run demo.'),
    );
  print();
}

/** Resolves on Ctrl-C, and rejects when a service ends by itself. */
async function stayUp(services: LocalServices, runId: string, signal: AbortSignal): Promise<void> {
  const { gateway, apiServer } = services;
  printNext(services, runId);
  print(dim('Both services stay up. Ctrl-C stops them.'));
  const interrupted = new Promise<null>((resolve) => {
    if (signal.aborted) resolve(null);
    signal.addEventListener('abort', () => resolve(null), { once: true });
  });
  const ended = await Promise.race([
    interrupted,
    gateway.exited.then(() => 'the gateway'),
    apiServer.exited.then(() => 'the api-server'),
  ]);
  if (ended !== null && !signal.aborted) throw new Error(`${ended} ended; see its log in the data directory`);
}

function explain(error: unknown, dataDir: string): void {
  print();
  print(red(error instanceof Error ? error.message : String(error)));
  if (!(error instanceof DeliveryRefused)) print(dim(`logs: ${join(dataDir, '*.log')}`));
}

async function run(options: DemoOptions): Promise<number> {
  const controller = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => controller.abort());
  // The reader of the output has closed the pipe.
  process.stdout.on('error', () => controller.abort());
  let services: LocalServices | null = null;
  try {
    services = await start(options);
    const { id, status } = await play(services, controller.signal);
    print();
    if (options.once) print(dim('Stopping (--once). Without --once both services stay up, with their pages.'));
    else await stayUp(services, id, controller.signal);
    return status === 'completed' ? 0 : 1;
  } catch (error) {
    if (!controller.signal.aborted) explain(error, options.dataDir);
    return controller.signal.aborted ? 130 : 1;
  } finally {
    await services?.stop();
    if (!options.once) print(dim('stopped'));
  }
}

const command = readCommand(process.argv.slice(2));
switch (command.kind) {
  case 'help':
    process.stdout.write(HELP);
    break;
  case 'error':
    process.exitCode = refuseUsage('demo', command.message, HELP);
    break;
  case 'run':
    process.exitCode = await run(command.options);
    break;
  default:
    command satisfies never;
}
