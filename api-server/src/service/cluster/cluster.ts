import type { SyncedObject } from '@signalbox/crds';
import type { ListedObjects, ListedTools } from '../../executors/gateway-rest.ts';

export interface ClusterDeps {
  /** Custom resources of pipelines and steps; null without a controller. */
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

/** The status of Kubernetes objects that the controller reports, and the tools that the gateway reports. */
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
