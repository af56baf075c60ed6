import type { ImageServer, ImageServers } from '../config/image-servers.ts';

/** Settings of an installation for the pods of all agents. */
export interface WorkloadSettings {
  image: string;
  pullPolicy: 'Always' | 'IfNotPresent' | 'Never';
  pullSecrets: readonly string[];
  gatewayNamespace: string;
  gatewayLabels: Readonly<Record<string, string>>;
  imageServers: ImageServers;
}

/** A tool server in the pods of an agent, by its name in the gateway's configuration. */
export interface NamedServer {
  name: string;
  server: ImageServer;
}
