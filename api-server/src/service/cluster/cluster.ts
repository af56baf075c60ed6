import type { SyncedObject } from '@signalbox/crds';
import type { ListedObjects, ListedTools } from '../../executors/gateway-rest.ts';

export interface ClusterDeps {
  /** Objects of pipelines and steps; null where no controller manages any. */
  syncedObjects(): Promise<SyncedObject[] | null>;
  gatewayObjects(): Promise<ListedObjects>;
  gatewayTools(): Promise<ListedTools>;
}

export type GatewayObjects = ListedObjects;
export type GatewayTools = ListedTools;
type Found = Extract<ListedTools, { kind: 'found' }>;
export type ToolServer = Found['servers'][number];
export type Tool = Found['tools'][number];
export type PolicyRule = Found['policy']['rules'][number];
export type { SyncedObject };

/** What the controller reports of Kubernetes objects, and what the gateway says of its tools. */
export interface Cluster {
  objects: ClusterDeps['syncedObjects'];
  gatewayObjects: ClusterDeps['gatewayObjects'];
  tools: ClusterDeps['gatewayTools'];
}

export const createCluster = ({ syncedObjects, gatewayObjects, gatewayTools }: ClusterDeps): Cluster => ({
  objects: syncedObjects,
  gatewayObjects,
  tools: gatewayTools,
});
