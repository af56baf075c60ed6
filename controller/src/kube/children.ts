import {
  AppsV1Api,
  type Configuration,
  CoreV1Api,
  NetworkingV1Api,
  type V1DeleteOptions,
} from '@kubernetes/client-node';
import type { ChildKind, KubeObject } from '../objects/child-object.ts';
import { SERVER_SIDE_APPLY } from './answer.ts';
import type { ListCall } from './list.ts';

interface Named {
  namespace: string;
  name: string;
}

/** The calls of one kind of children. All reject as the client does. */
export interface ChildCalls {
  /** Null lists all namespaces. */
  list(namespace: string | null): ListCall;
  read(child: Named): Promise<unknown>;
  apply(child: Named & { body: KubeObject; fieldManager: string; force: boolean }): Promise<unknown>;
  remove(child: Named & { body: V1DeleteOptions }): Promise<unknown>;
}

export function childCalls(configuration: Configuration): Record<ChildKind, ChildCalls> {
  const apps = new AppsV1Api(configuration);
  const core = new CoreV1Api(configuration);
  const networking = new NetworkingV1Api(configuration);
  return {
    Deployment: {
      list: (namespace) => (page, options) =>
        namespace === null
          ? apps.listDeploymentForAllNamespaces(page, options)
          : apps.listNamespacedDeployment({ namespace, ...page }, options),
      read: (child) => apps.readNamespacedDeployment(child),
      apply: (child) => apps.patchNamespacedDeployment(child, SERVER_SIDE_APPLY),
      remove: (child) => apps.deleteNamespacedDeployment(child),
    },
    Service: {
      list: (namespace) => (page, options) =>
        namespace === null
          ? core.listServiceForAllNamespaces(page, options)
          : core.listNamespacedService({ namespace, ...page }, options),
      read: (child) => core.readNamespacedService(child),
      apply: (child) => core.patchNamespacedService(child, SERVER_SIDE_APPLY),
      remove: (child) => core.deleteNamespacedService(child),
    },
    NetworkPolicy: {
      list: (namespace) => (page, options) =>
        namespace === null
          ? networking.listNetworkPolicyForAllNamespaces(page, options)
          : networking.listNamespacedNetworkPolicy({ namespace, ...page }, options),
      read: (child) => networking.readNamespacedNetworkPolicy(child),
      apply: (child) => networking.patchNamespacedNetworkPolicy(child, SERVER_SIDE_APPLY),
      remove: (child) => networking.deleteNamespacedNetworkPolicy(child),
    },
  };
}
