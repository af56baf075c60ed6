import type { Compute } from '@signalbox/crds/process/compute';
import type { Tracing } from '@signalbox/crds/process/tracing';
import type { LoadReport, AgentRegistry } from '../agents/registry.ts';
import type { JudgeSchema } from '../agents/validate.ts';
import type { AppDeps } from '../http/app.ts';
import type { Metrics } from '../observability/metrics.ts';
import type { PolicyResult, DecidePolicy } from '../policy/policy.ts';
import type { RunService } from '../runs/run-service.ts';
import type { GatewayConfig } from '../config/schema.ts';
import type { Tokens } from '../identity/device-auth.ts';
import type { SigningKey } from '../identity/signing-key.ts';
import type { Log } from '../observability/log.ts';
import type { KnownNames, AgentRecord, ValidationItem } from '../agents/agent-record.ts';
import type { Models } from '../models/models.ts';
import type { RunAgentDeps, RunJob } from '../runs/run-agent.ts';
import type { Run } from '../runs/run.ts';
import type { RunOutcome } from '../runs/run-outcome.ts';
import type { ServedTool, ToolServers, Isolation } from '../tools/tool-servers.ts';
import type { ProcessSpec } from '../tools/process-group.ts';
import type { DoorDeps } from '../runs/tool-door.ts';

export interface GatewayOptions {
  config: GatewayConfig;
  tokens: Tokens;
  /** Null where no agent has its own pod. */
  signingKey: SigningKey | null;
  version: string;
  log: Log;
  /** What tool servers may see of the environment. */
  baseEnvironment: Record<string, string>;
  configPath: string | null;
  /** Why the environment of this process can be read in /proc; null where it cannot. */
  environmentShown: string | null;
}

export interface OpenedAgents {
  ok: true;
  registry: AgentRegistry;
  /** The names in the configuration that an agent may refer to. */
  known: KnownNames;
  judge: JudgeSchema;
  /** Whether this agent runs in its own pod. */
  hasPod: (agent: AgentRecord) => boolean;
}

/** The configured providers, and how a run asks a model of them. */
export interface OpenedModels extends Models {
  generate: RunAgentDeps['generate'];
}

/** How one server of type `stdio` is kept from what belongs to the gateway. */
export interface ServerIsolation {
  kind: Isolation;
  isolate: (spec: ProcessSpec) => ProcessSpec;
}

export interface OpenedIsolation {
  of: (server: string) => ServerIsolation;
  /** What tool servers can read in spite of it. */
  warnings: string[];
}

/** The configured tool servers, not started yet. `stop` ends them and their watches. */
export interface OpenedTools {
  servers: ToolServers;
  stop: () => Promise<void>;
}

/** Agents in pods of their own, as the rest of the gateway sees them. */
export interface Pods {
  whenReady: (agent: AgentRecord, signal: AbortSignal) => (() => Promise<boolean>) | null;
  /** `onTalk` is told how much more the gateway holds for the run, or less, in characters. */
  perform: (job: RunJob, run: Run, onTalk: (chars: number) => void) => Promise<RunOutcome>;
  /** Looks after the pods of these agents, and of no others. */
  retain: (agents: readonly AgentRecord[]) => void;
  /** Tools of the servers in an agent's pods. */
  tools: (agent: AgentRecord) => ServedTool[];
  /** Those in all pods, as far as they fit an answer. */
  allTools: () => Promise<ServedTool[]>;
  /** About agents whose pods have tools that are not taken, or do not take their configuration. */
  warnings: () => ValidationItem[];
  /** How many pods each agent has that are connected. */
  connected: () => { agent: string; connected: number }[];
  close: () => void;
}

/** The way of every run to a tool; who approves a call depends on the run. */
export type Door = Omit<DoorDeps, 'requestApproval' | 'decide'> & { decide: DecidePolicy };

/** All parts of the gateway; each stage of the start takes what earlier stages made. */
export interface Stages extends GatewayOptions {
  compute: Compute;
  metrics: Metrics;
  policy: Extract<PolicyResult, { ok: true }>;
  models: OpenedModels;
  agents: OpenedAgents;
  tracing: Tracing | null;
  isolation: OpenedIsolation;
  configWarnings: string[];
  tools: OpenedTools;
  door: Door;
  /** Null where no agent has its own pod. */
  pods: Pods | null;
  runs: RunService;
  reload: () => Promise<LoadReport>;
  access: Pick<AppDeps, 'authenticate' | 'onAuthFailure'> & { onBug: (error: unknown, about?: unknown) => void };
}
