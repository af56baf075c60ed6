/** Copies of the configuration in config/local with their paths made absolute, for services that run from elsewhere. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parse, stringify } from 'yaml';
import { ROOT } from './start-service.ts';

/** The parsed YAML of a configuration file; a change edits it in place. */
export type ConfigDocument = Record<string, any>; // oxlint-disable-line typescript/no-explicit-any -- whatever the file holds
export type Change = (config: ConfigDocument) => void;

export interface CopyOptions {
  /** Where the copy, the databases and the identity go. */
  readonly dataDir: string;
  /** 0 takes a free one. */
  readonly port: number;
  readonly change?: Change;
}

const LOCAL = join(ROOT, 'config/local');
const inLocal = (path: string) => resolve(LOCAL, path);

/** Gives the process of a tool server its directory: without one it is that of the configuration. Other kinds have none. */
export function fromLocal(server: ConfigDocument): void {
  if (typeof server.command === 'string') server.cwd = inLocal(server.cwd ?? '.');
}

/** Writes `gateway.yaml` into the data directory and answers its path. */
export function writeGatewayConfig({ dataDir, port, change }: CopyOptions): string {
  return write('gateway.yaml', dataDir, (config) => {
    config.server.port = port;
    config.identity_dir = join(dataDir, 'identity');
    config.isolation_hide = [dataDir];
    config.agents_dir = inLocal(config.agents_dir);
    for (const server of Object.values<ConfigDocument>(config.mcp_servers ?? {})) fromLocal(server);
    change?.(config);
  });
}

/** Writes `api-server.yaml`, which points to the gateway at `gatewayUrl`, and answers its path. */
export function writeApiServerConfig({
  dataDir,
  port,
  change,
  gatewayUrl,
}: CopyOptions & { gatewayUrl: string }): string {
  return write('api-server.yaml', dataDir, (config) => {
    config.server.port = port;
    config.pipeline_config_dir = inLocal(config.pipeline_config_dir);
    config.step_library_dir = inLocal(config.step_library_dir);
    config.artifacts.dir = join(dataDir, 'artifacts');
    config.database.url = `sqlite://${join(dataDir, 'signalbox.db')}`;
    config.executors.gateway.url = `${gatewayUrl.replace(/^http/, 'ws')}/rpc`;
    config.executors.gateway.rest_url = gatewayUrl;
    change?.(config);
  });
}

function write(name: string, dataDir: string, change: Change): string {
  const config = parse(readFileSync(join(LOCAL, name), 'utf8')) as ConfigDocument;
  change(config);
  mkdirSync(dataDir, { recursive: true });
  const path = join(dataDir, name);
  writeFileSync(path, `# Made from config/local/${name} on every start; edit that file.\n${stringify(config)}`);
  return path;
}
