import { setTimeout as delay } from 'node:timers/promises';
import type { DefinitionKind } from '@signalbox/crds';
import type { ManagerOptions } from '../cli.ts';
import { createAskReplicas } from './ask-replicas.ts';
import { readAgents, readDefinitions, type ServiceView } from './service-view.ts';

const ASK_MS = 10_000;
/** While a replica is out of date: people wait for it. */
const HURRY_MS = 1000;

/** What the services answered last. */
export interface Views {
  /** Every service that has an address was asked once; before that nothing can be said of it. */
  known(): boolean;
  of(kind: DefinitionKind): ServiceView;
  /** Asks every second instead of every ten. */
  hurry(wanted: boolean): void;
  /** Asks until the signal, and reports every round. */
  keepAsking(changed: () => void, signal: AbortSignal): Promise<void>;
}

type Options = Pick<ManagerOptions, 'apiServerUrl' | 'gatewayUrl' | 'viewerTokenFile' | 'invokeTokenFile' | 'caFile'>;

export function createViews({ apiServerUrl, gatewayUrl, viewerTokenFile, invokeTokenFile, caFile }: Options): Views {
  const ask = createAskReplicas(caFile);
  let apiServer: ServiceView = { asked: false };
  let gateway: ServiceView = { asked: false };
  let hurried = false;
  const askApiServer = async () => {
    if (apiServerUrl === null) return;
    const source = { path: '/definitions', tokenFile: viewerTokenFile, read: readDefinitions } as const;
    apiServer = await ask({ url: apiServerUrl, ...source });
  };
  const askGateway = async () => {
    if (gatewayUrl === null) return;
    gateway = await ask({ url: gatewayUrl, path: '/agents', tokenFile: invokeTokenFile, read: readAgents });
  };
  return {
    known: () => (apiServerUrl === null || apiServer.asked) && (gatewayUrl === null || gateway.asked),
    of: (kind) => (kind === 'Agent' ? gateway : apiServer),
    hurry: (wanted) => (hurried = wanted),
    keepAsking: async (changed, signal) => {
      if (apiServerUrl === null && gatewayUrl === null) return;
      while (!signal.aborted) {
        await Promise.all([askApiServer(), askGateway()]);
        changed();
        for (let waited = 0; waited < ASK_MS && !signal.aborted; waited += HURRY_MS) {
          await delay(HURRY_MS, undefined, { signal }).catch(() => undefined);
          if (hurried) break;
        }
      }
    },
  };
}
