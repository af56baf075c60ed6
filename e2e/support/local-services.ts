/** The gateway and the api-server of config/local as two processes on loopback, their data in a directory of choice. */
import { call } from './call.ts';
import { type Change, writeApiServerConfig, writeGatewayConfig } from './local-config.ts';
import { type LocalTokens, localTokens, tokenEnvironment } from './local-tokens.ts';
import { type LogLine, type Service, type ServiceKind, startService } from './start-service.ts';
import { waitFor } from './wait-for.ts';

export interface LocalOptions {
  readonly dataDir: string;
  /** 0, the default, takes free ones. */
  readonly ports?: Readonly<Record<ServiceKind, number>>;
  readonly change?: Partial<Readonly<Record<ServiceKind, Change>>>;
  readonly env?: Record<string, string | undefined>;
  readonly onLine?: (kind: ServiceKind, line: LogLine) => void;
  /** Called when a service listens. */
  readonly onUp?: (kind: ServiceKind, service: Service) => Promise<void> | void;
}

export interface LocalServices {
  readonly gateway: Service;
  readonly apiServer: Service;
  readonly tokens: LocalTokens;
  /** The api-server first, so that no run loses its gateway. */
  stop(): Promise<void>;
}

/** The gateway listens before its tool servers have started. */
function toolServersRun({ url }: Service): Promise<boolean> {
  const probe = async () => (await call<{ status: string }>(`${url}/health`)).body.status === 'ok';
  return waitFor(probe, { what: 'the tool servers of the gateway to run' });
}

export async function startLocalServices(options: LocalOptions): Promise<LocalServices> {
  const { dataDir, ports = { gateway: 0, 'api-server': 0 }, change = {} } = options;
  const tokens = localTokens(dataDir);
  const running: Service[] = [];
  const stop = async () => {
    for (let service = running.pop(); service; service = running.pop()) await service.stop();
  };
  const start = async (kind: ServiceKind, configPath: string, env: Record<string, string> = {}) => {
    const service = await startService(kind, configPath, {
      env: { ...tokenEnvironment(tokens), ...env, ...options.env },
      onLine: (line) => options.onLine?.(kind, line),
    });
    running.push(service);
    await options.onUp?.(kind, service);
    return service;
  };
  try {
    const gatewayConfig = writeGatewayConfig({ dataDir, port: ports.gateway, change: change.gateway });
    const gateway = await start('gateway', gatewayConfig);
    await toolServersRun(gateway);
    const apiServer = await start(
      'api-server',
      writeApiServerConfig({
        dataDir,
        port: ports['api-server'],
        change: change['api-server'],
        gatewayUrl: gateway.url,
      }),
      { GATEWAY_URL: gateway.url },
    );
    return { gateway, apiServer, tokens, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
