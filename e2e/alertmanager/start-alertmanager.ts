/** Debian's Alertmanager on loopback, with the sample configuration pointed at a service under test. */
import { execFile, spawn } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { parse, stringify } from 'yaml';
import { call } from '../support/call.ts';
import { ROOT } from '../support/start-service.ts';
import { waitFor } from '../support/wait-for.ts';

const PROGRAM = existsSync('/usr/bin/prometheus-alertmanager') ? '/usr/bin/prometheus-alertmanager' : 'alertmanager';
/** The log line with the port. */
const LISTENING = /msg="Listening on" address=(\S+)/;

export interface Alertmanager {
  readonly url: string;
  /** The value of one of its metrics summed over its label sets. */
  metric(name: string): Promise<number>;
  stop(): Promise<void>;
}

export interface AlertmanagerOptions {
  readonly directory: string;
  readonly webhookUrl: string;
  readonly token: string;
}

/** `config/alertmanager/alertmanager.yml` with this address and token, and with seconds for its hours. */
function writeConfig({ directory, webhookUrl, token }: AlertmanagerOptions): string {
  const config = parse(readFileSync(join(ROOT, 'config/alertmanager/alertmanager.yml'), 'utf8'));
  const [webhook] = config.receivers[0].webhook_configs;
  const credentials = join(directory, 'token');
  writeFileSync(credentials, token, { mode: 0o600 });
  webhook.url = webhookUrl;
  webhook.http_config.authorization.credentials_file = credentials;
  Object.assign(config.route, { group_wait: '0s', group_interval: '1s', repeat_interval: '1s' });
  const path = join(directory, 'alertmanager.yml');
  writeFileSync(path, stringify(config));
  return path;
}

export async function startAlertmanager(options: AlertmanagerOptions): Promise<Alertmanager> {
  const child = spawn(
    PROGRAM,
    [
      `--config.file=${writeConfig(options)}`,
      `--storage.path=${join(options.directory, 'alertmanager')}`,
      '--web.listen-address=127.0.0.1:0',
      '--cluster.listen-address=',
    ],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  );
  let log = '';
  child.stderr.on('data', (chunk: Buffer) => (log = `${log}${chunk.toString()}`.slice(-8000)));
  const exited = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const stop = async () => {
    child.kill('SIGTERM');
    await exited;
  };
  const listening = async () => {
    const address = await waitFor(() => LISTENING.exec(log)?.[1], { what: 'Alertmanager to listen' });
    await waitFor(async () => (await call(`http://${address}/-/ready`)).status === 200, {
      what: 'Alertmanager to be ready',
    });
    return `http://${address}`;
  };
  const url = await listening().catch(async (cause: unknown) => {
    await stop();
    throw new Error(`Alertmanager did not start:\n${log}`, { cause });
  });
  const metric = async (name: string) => {
    const { body } = await call<string>(`${url}/metrics`);
    const rows = body.split('\n').filter((line) => new RegExp(`^${name}[{ ]`).test(line) && line.includes('webhook'));
    return rows.reduce((sum, row) => sum + Number(row.split(' ').at(-1)), 0);
  };
  return { url, metric, stop };
}

/** `amtool alert add`; `end` resolves the alert. */
export async function addAlert(
  { url }: Alertmanager,
  { labels, summary, end }: { labels: Record<string, string>; summary: string; end?: Date },
): Promise<void> {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}=${value}`);
  const args = ['alert', 'add', `--alertmanager.url=${url}`, `--annotation=summary=${summary}`];
  if (end) args.push(`--end=${end.toISOString()}`);
  await promisify(execFile)('amtool', [...args, ...pairs]);
}
