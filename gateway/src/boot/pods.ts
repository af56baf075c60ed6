import { randomUUID } from 'node:crypto';
import { lookup } from 'node:dns/promises';
import { serverOf } from '@signalbox/crds';
import type { AgentRecord, OwnedAgent, ValidationItem } from '../agents/agent-record.ts';
import type { GatewayConfig } from '../config/schema.ts';
import { timeoutsOf } from './timeouts.ts';
import { signRunnerToken } from '../identity/runner-token.ts';
import type { SigningKey } from '../identity/signing-key.ts';
import type { RunnerConfiguration } from '../runner/protocol.ts';
import { AgentPods } from '../pods/agent-pods.ts';
import { AnswerPods } from '../pods/answer-pods.ts';
import { Configuring } from '../pods/configuring.ts';
import { createManagedAddresses } from '../pods/managed-addresses.ts';
import { podAddresses } from '../pods/pod-addresses.ts';
import { type PodRunDeps, runInPod } from '../pods/pod-run.ts';
import { shownTools, toldTools } from '../pods/told-tools.ts';
import { ToolRoom } from '../pods/tool-room.ts';
import { WrittenConfiguration } from '../pods/written-configuration.ts';
import type { Stages, Pods } from './stages.ts';

type PodsOptions = Omit<Stages, 'pods' | 'runs' | 'reload' | 'tracing'> & { signingKey: SigningKey };

/** Connections to agents that run in their own pods. */
export function openPods(options: PodsOptions): Pods {
  const { config, log } = options;
  const { runtime } = config;
  const configured = Object.fromEntries(
    Object.entries(runtime.agents).map(([agent, addresses]) => [agent, [addresses].flat()]),
  );
  const room = new ToolRoom();
  const answers = new AnswerPods({
    generate: options.models.generate,
    door: options.door,
    maxIterations: config.limits.max_iterations,
    livesHere: (server) => !isImage(config.mcp_servers[server]),
    listsTool: (agent, server, name) => room.has(agent, { server, name }),
  });
  const inManifest = config.managed_dir === undefined ? () => undefined : createManagedAddresses(config.managed_dir);
  const { registry } = options.agents;
  // An agent of a tenant may have the name of one that the operator wrote.
  const managed = ({ name, managedBy }: OwnedAgent) =>
    managedBy === null ? undefined : inManifest(name, managedBy.namespace);
  const toolsOf = (agent: AgentRecord) => ({
    lists: room.lists(agent.name),
    servers: new Set(imageServersOf(agent, config).map(({ name }) => name)),
  });
  const write = (agent: AgentRecord) => new WrittenConfiguration(configurationOf(agent, options));
  const { onBug } = options.access;
  const configuring = new Configuring({
    agent: (name) => registry.get(name),
    write,
    toolsVersion: (agent) => options.tools.servers.versionOf(serversOf(agent)),
    onBug,
  });
  const pods = new AgentPods({
    room,
    addresses: (agent) => podAddresses(agent.name, { configured, managed: () => managed(agent), lookup: addressesOf }),
    token: (agent) => signRunnerToken(agent, options.signingKey.privateKey, { now: Date.now(), id: randomUUID() }),
    handle: (agent) => (request) => answers.answer(agent, request),
    onOpen: (agent, link) => configuring.add(agent, [link]),
    onState: (state) => (state.state === 'connected' ? log.info(state, 'agent pod') : log.warn(state, 'agent pod')),
    onBug,
    startTimeoutMs: runtime.start_timeout_seconds * 1000,
  });
  const running: PodRunDeps = {
    pods,
    configured: (link, { agent }, asking) => configuring.ask(link, { ...asking, agent }),
    hasBegun: (runId) => answers.wasAsked(runId),
    reconnectMs: runtime.reconnect_timeout_seconds * 1000,
  };
  return {
    whenReady: (agent, signal) => pods.whenReady(agent, signal),
    perform: (job, run, onTalk) => answers.during({ job, run, onTalk }, () => runInPod(job, run, running)),
    retain: (agents) => {
      pods.retain(agents);
      configuring.forget();
      for (const agent of agents) configuring.add(agent, pods.connected(agent.name));
    },
    tools: (agent) => toldTools(toolsOf(agent)),
    allTools: () => shownTools(registry.list().map(toolsOf)),
    warnings: () => [
      ...[...room.refused()].map(([agent, reason]) => warningOf(agent, 'tools', reason)),
      ...[...pods.refused()].map(([agent, reason]) =>
        warningOf(agent, 'runtime', `a pod refused its configuration: ${reason}`),
      ),
    ],
    connected: () => pods.agentsLookedAfter().map((agent) => ({ agent, connected: pods.connected(agent).length })),
    close: () => pods.close(),
  };
}

function configurationOf(agent: AgentRecord, { config, tools }: PodsOptions): RunnerConfiguration {
  const listed = serversOf(agent);
  return {
    agent: { config: agent.config, soul: agent.soul, version: agent.version },
    tools: listed.size === 0 ? [] : tools.servers.tools().filter(({ server }) => listed.has(server)),
    image_servers: imageServersOf(agent, config),
    tool_pinning: config.tool_pinning,
    limits: {
      max_iterations: config.limits.max_iterations,
      tool_timeout_ms: config.limits.tool_timeout_seconds * 1000,
      tool_result_max_chars: config.limits.tool_result_max_chars,
    },
  };
}

const serversOf = ({ config }: AgentRecord) => new Set(config.tools.map((pattern) => serverOf(pattern)));

/** The servers of the agent's list that run in its pods. */
function imageServersOf(agent: AgentRecord, { mcp_servers: servers, limits }: GatewayConfig) {
  return [...serversOf(agent)].flatMap((name) => {
    const entry = servers[name];
    return entry && 'image' in entry ? [{ name, ...pick(entry), timeouts: timeoutsOf(entry, limits) }] : [];
  });
}

function warningOf(agent: string, field: string, reason: string): ValidationItem {
  return { agent, field, value: null, message: reason, severity: 'warning' };
}

/** Only where it answers: its environment is between the operator and the container. */
function pick({ port, path, tools_hash }: { port: number; path: string; tools_hash?: string | undefined }) {
  return { port, path, ...(tools_hash === undefined ? {} : { tools_hash }) };
}

function isImage(entry: GatewayConfig['mcp_servers'][string] | undefined): boolean {
  return entry !== undefined && 'image' in entry;
}

async function addressesOf(host: string): Promise<string[]> {
  return (await lookup(host, { all: true })).map(({ address }) => address);
}
