import {
  type Configuration,
  CoordinationV1Api,
  CoreV1Api,
  createConfiguration,
  CustomObjectsApi,
  ServerConfiguration,
} from '@kubernetes/client-node';
import type { ChildKind } from '../objects/child-object.ts';
import { type ChildCalls, childCalls } from './children.ts';
import { httpLibrary } from './http-library.ts';
import { loadKubeConfig } from './kube-config.ts';
import { createWatch, type WatchCall } from './watch.ts';

/** The API server, reached with the caller's credentials. */
export interface Cluster {
  /** The namespace of the account, for leases. */
  namespace: string;
  custom: Pick<
    CustomObjectsApi,
    'listClusterCustomObject' | 'listNamespacedCustomObject' | 'patchNamespacedCustomObjectStatus'
  >;
  core: Pick<CoreV1Api, 'createNamespacedEvent'>;
  leases: Pick<CoordinationV1Api, 'readNamespacedLease' | 'createNamespacedLease' | 'replaceNamespacedLease'>;
  children: Record<ChildKind, ChildCalls>;
  watch: WatchCall;
}

export const FIELD_MANAGER = 'signalbox-controller';

export interface ClusterOptions {
  now(): number;
  env?: NodeJS.ProcessEnv;
  /** A kubeconfig file; without it the one of the environment, or the account of the pod. */
  kubeconfig?: string;
  /** Called before and after every request. */
  step?: () => void;
  /** How long the API server may be silent. */
  silenceMs?: number;
}

/** Finds the cluster as kubectl does. Throws with a message that says what to do. */
export function connectCluster({ now, env = {}, kubeconfig, silenceMs, ...options }: ClusterOptions): Cluster {
  const { step = () => undefined } = options;
  const config = loadKubeConfig({ now, file: kubeconfig, source: env['KUBECONFIG'], silenceMs });
  const { server = '' } = config.getCurrentCluster() ?? {};
  const configuration: Configuration = createConfiguration({
    baseServer: new ServerConfiguration(server, {}),
    authMethods: { default: config },
    httpApi: httpLibrary,
    promiseMiddleware: [
      {
        pre: async (request) => {
          step();
          request.setHeaderParam('User-Agent', FIELD_MANAGER);
          return request;
        },
        post: async (response) => {
          step();
          return response;
        },
      },
    ],
  });
  const watch = createWatch(config);
  return {
    namespace: config.getContextObject(config.getCurrentContext())?.namespace?.trim() ?? 'default',
    custom: new CustomObjectsApi(configuration),
    core: new CoreV1Api(configuration),
    leases: new CoordinationV1Api(configuration),
    children: childCalls(configuration),
    watch: (request) => {
      step();
      return watch(request);
    },
  };
}
