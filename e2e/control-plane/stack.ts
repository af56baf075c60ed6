/** The whole of it as processes: control plane, both services, a `sync` before each and a `manager`. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeApiServerConfig, writeGatewayConfig } from '../support/local-config.ts';
import { type LocalTokens, localTokens, tokenEnvironment } from '../support/local-tokens.ts';
import { type Service, startService } from '../support/start-service.ts';
import { type Accounts, createAccounts } from './accounts.ts';
import { flags, startController } from './controllers.ts';
import { type Objects, objectsOf } from './objects.ts';
import { applyKinds, type ControlPlane, startControlPlane } from './start-control-plane.ts';

export interface Stack {
  plane: ControlPlane;
  accounts: Accounts;
  objects: Objects;
  tokens: LocalTokens;
  apiServer: Service;
  gateway: Service;
  /** Directory that `sync` writes for the service. */
  managed: { apiServer: string; gateway: string };
  sync: { apiServer: Service; gateway: Service };
  manager: Service;
  args: { syncApiServer: string[]; manager: string[] };
  stop(): Promise<void>;
}

export interface StackOptions {
  /** Starts a proxy between the manager and the api-server; returns its address. */
  between?: (apiServerUrl: string) => Promise<{ url: string; stop(): Promise<void> }>;
}

export async function startStack({ between }: StackOptions = {}): Promise<Stack> {
  const plane = await startControlPlane();
  const running: { stop(): Promise<unknown> }[] = [plane];
  const stop = async () => {
    for (const part of running.toReversed()) await part.stop();
  };
  const keep = <T extends { stop(): Promise<unknown> }>(part: T): T => {
    running.push(part);
    return part;
  };
  try {
    await applyKinds(plane);
    const accounts = await createAccounts(plane);
    const place = join(plane.scratch, 'services');
    const managed = { apiServer: join(place, 'managed-api-server'), gateway: join(place, 'managed-gateway') };
    // In a pod `sync` is there before the service; here it has to know the port of the service first.
    const before = [
      'managed-api-server/pipelines',
      'managed-api-server/steps',
      'managed-gateway',
      'pipelines',
      'steps',
    ];
    for (const folder of before) mkdirSync(join(place, folder), { recursive: true });
    const tokens = localTokens(place);
    for (const [name, token] of Object.entries(tokens)) writeFileSync(join(place, name), token, { mode: 0o600 });
    const env = tokenEnvironment(tokens);

    const gatewayConfig = writeGatewayConfig({
      dataDir: place,
      port: 0,
      change: (config) => {
        config.managed_dir = managed.gateway;
        config.runtime = { mode: 'process' };
      },
    });
    const gateway = keep(await startService('gateway', gatewayConfig, { env }));
    const apiServerConfig = writeApiServerConfig({
      dataDir: place,
      port: 0,
      gatewayUrl: gateway.url,
      change: (config) => {
        config.managed_dir = managed.apiServer;
        config.pipeline_config_dir = join(place, 'pipelines');
        config.step_library_dir = join(place, 'steps');
      },
    });
    const apiServer = keep(
      await startService('api-server', apiServerConfig, { env: { ...env, GATEWAY_URL: gateway.url } }),
    );
    const asked = between ? keep(await between(apiServer.url)) : apiServer;

    const syncArgs = (kinds: string, dir: string, rest: { url: string; tokenFile: string; config: string }) => [
      'sync',
      ...flags({
        kinds,
        dir,
        'reload-url': `${rest.url}/reload`,
        'reload-token-file': join(place, rest.tokenFile),
        'service-config': rest.config,
      }),
    ];
    const syncApiServer = syncArgs('Pipeline,LibraryStep', managed.apiServer, {
      url: apiServer.url,
      tokenFile: 'reload',
      config: apiServerConfig,
    });
    const syncGateway = syncArgs('Agent', managed.gateway, {
      url: gateway.url,
      tokenFile: 'gateway_reload',
      config: gatewayConfig,
    });
    const managerFlags = flags({
      'api-server-config': apiServerConfig,
      'gateway-config': gatewayConfig,
      'api-server-url': asked.url,
      'viewer-token-file': join(place, 'viewer'),
      'gateway-url': gateway.url,
      'invoke-token-file': join(place, 'gateway_invoke'),
    });
    const managerArgs = ['manager', ...managerFlags];
    const sync = {
      apiServer: keep(await startController(syncApiServer, accounts.kubeconfig('sync'))),
      gateway: keep(await startController(syncGateway, accounts.kubeconfig('sync'))),
    };
    const manager = keep(await startController(managerArgs, accounts.kubeconfig('manager')));
    const args = { syncApiServer, manager: managerArgs };
    return {
      plane,
      accounts,
      objects: objectsOf(plane),
      tokens,
      apiServer,
      gateway,
      managed,
      sync,
      manager,
      args,
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}
