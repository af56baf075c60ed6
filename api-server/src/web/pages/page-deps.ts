import type { FastifyReply, FastifyRequest } from 'fastify';
import type {
  ApprovalLine,
  AuditLine,
  LogLine,
  Mark,
  ReadinessPreview,
  ReadinessReport,
  ReadinessVerdict,
  RunDetail,
  RunsPage,
  UnmarkedLine,
  UnmarkedPage,
} from './wire.ts';
import type { Statistics } from '../../analytics/statistics.ts';
import type { History } from '../../analytics/history.ts';

export type { UnmarkedLine, UnmarkedPage };

export type Role = 'viewer' | 'operator' | 'admin';

/** Who looks at a page; `csrf` goes into every form (Orchestration 5, rules 6 to 8). */
export interface Viewer {
  name: string;
  role: Role;
  csrf: string;
}

/** The session rules live in `http/`; pages only ask. */
export interface PageAuth {
  /** The viewer behind the session cookie, or null. */
  viewer(request: FastifyRequest): Viewer | null;
  /** Checks the token and sets the session cookie on success. */
  logIn(
    request: FastifyRequest,
    reply: FastifyReply,
    entry: { token: string; remember: boolean },
  ): Promise<boolean> | boolean;
  logOut(request: FastifyRequest, reply: FastifyReply): Promise<void> | void;
  /** Whether a posted form carries this session's CSRF token (`_csrf`) and comes from our own origin. */
  mayPost(request: FastifyRequest): boolean;
}

/** Filters of `GET /runs` (Design 5), as text from the URL; several statuses are separated by commas. */
export interface RunsQuery {
  limit: number;
  offset: number;
  status?: string;
  pipeline?: string;
  stage?: string;
  severity?: string;
  team?: string;
  source?: string;
  q?: string;
  /** ISO 8601; `until` is not in it. */
  since?: string;
  until?: string;
}

/** Filters of `GET /audit` (Design 5), as text from the URL; times are ISO 8601. */
export interface AuditQuery {
  limit: number;
  offset: number;
  actor?: string;
  role?: string;
  action?: string;
  target_type?: string;
  target?: string;
  since?: string;
  until?: string;
}

/** A definition as loaded: the pipeline or library step with its source text. */
export interface DefinitionEntry {
  name: string;
  file: string;
  text: string;
  hash: string;
  config: Record<string, unknown>;
  uses?: string[];
}

export interface DefinitionProblem {
  severity: 'error' | 'warning';
  kind: string | null;
  name: string | null;
  file: string;
  loc: (string | number)[];
  msg: string;
  line?: number | undefined;
  col?: number | undefined;
}

export interface Definitions {
  pipelines: DefinitionEntry[];
  steps: DefinitionEntry[];
  problems: DefinitionProblem[];
  loadedAt: number;
}

export interface Schedule {
  pipeline: string;
  cron: string;
  timezone: string;
  /** ISO 8601; null while suspended. */
  next_run: string | null;
  suspended: boolean;
}

export interface ToolServer {
  name: string;
  transport: string;
  state: string;
  tool_count: number;
  restart_count: number;
  started_at: string | null;
  last_error: string | null;
}

export interface Tool {
  server: string;
  name: string;
  description: string;
  input_schema: Record<string, unknown>;
}

export interface PolicyRule {
  action: string;
  server: string | null;
  tool: string | null;
  agent: string | null;
  input_regex: string | null;
  reason: string | null;
}

/** What the gateway says of its tools, or why it could not be asked. */
export type GatewayTools =
  | { kind: 'found'; servers: ToolServer[]; tools: Tool[]; policy: { default: string; rules: PolicyRule[] } }
  | { kind: 'not_configured' }
  | { kind: 'unreachable'; message: string };

/** A Kubernetes object as the controller last reported it, with what was written for it. */
export interface SyncedObject {
  kind: 'Pipeline' | 'LibraryStep' | 'Agent';
  namespace: string;
  name: string;
  /** What the services call it; null while nothing of it is served. */
  definition: string | null;
  hash: string | null;
  conditions: {
    type: string;
    status: 'True' | 'False' | 'Unknown';
    reason?: string | undefined;
    message?: string | undefined;
    lastTransitionTime?: string | undefined;
  }[];
  replicas: { pod: string; hash: string | null }[];
}

/** What the gateway says of the objects of its agents (null: no controller manages any), or why it could not be asked. */
export type GatewayObjects =
  | { kind: 'found'; objects: SyncedObject[] | null }
  | { kind: 'not_configured' }
  | { kind: 'unreachable'; message: string };

/** A new run, or why there is none. */
export type RerunOutcome =
  | { kind: 'started'; runId: string }
  | { kind: 'not_found' }
  | { kind: 'running' | 'suspended' }
  | { kind: 'invalid' | 'at_capacity'; message: string };

/** What became of a decision; `closed` says in `message` who was first, or that the time was over. */
export type DecisionOutcome =
  | { kind: 'decided' | 'not_found' }
  | { kind: 'closed'; message: string }
  | { kind: 'invalid'; problems: { field: string; msg: string }[] };

export interface AgentList {
  agents: { name: string; executor: string; model: string | null; warnings?: string[] }[];
  errors: Record<string, string>;
}

/** Criteria that were tried out, or why they could not be. */
export type TriedReadiness =
  | { kind: 'tried'; report: ReadinessPreview }
  | { kind: 'invalid'; problems: { field: string; msg: string }[] }
  | { kind: 'not_found' };

/** Everything that pages need from the rest of the service; `main.ts` passes the functions. */
export interface PageDeps {
  auth: PageAuth;
  version: string;
  /** The OpenAPI description of the routes, for `/ui/docs`. */
  apiDescription?: Record<string, unknown>;
  /** Display label only (Orchestration 2.13). */
  currency: string;
  now(): number;
  listRuns(query: RunsQuery): Promise<RunsPage>;
  runDetail(runId: string): Promise<RunDetail | null>;
  /** The run's log so far, oldest first. */
  runLog(runId: string): Promise<LogLine[]>;
  /** The definition with which the run began, or null when it is not stored any more. */
  runDefinition(runId: string): Promise<Record<string, unknown> | null>;
  giveFeedback(mark: {
    runId: string;
    stepName: string | null;
    outcome: Mark['outcome'];
    notes: string | null;
    by: Viewer;
  }): Promise<'ok' | 'not_found' | 'running'>;
  /** Answers that have no label yet, the newest run first, at most `limit`. */
  unmarkedSteps(query: {
    pipeline?: string;
    step?: string;
    stage?: 'production' | 'testing';
    limit: number;
  }): Promise<UnmarkedPage>;
  /** Those that wait first, then the newest. */
  listApprovals(query: {
    status?: 'pending';
    run?: string;
    limit: number;
    offset: number;
  }): Promise<{ approvals: ApprovalLine[]; total: number }>;
  findApproval(id: string): Promise<ApprovalLine | null>;
  decideApproval(decision: {
    id: string;
    decision: 'approve' | 'reject';
    fields: Record<string, unknown>;
    comment: string | null;
    by: Viewer;
    requestId: string;
  }): Promise<DecisionOutcome>;
  cancelRun(runId: string, by: Viewer, requestId: string): Promise<'cancelled' | 'not_found' | 'ended'>;
  /** From the start where `fromStep` is null. */
  rerun(request: { runId: string; fromStep: string | null; by: Viewer; requestId: string }): Promise<RerunOutcome>;
  /** The text of an artifact; null where there is none (any more). */
  artifact(runId: string, stepName: string, name: string): Promise<Buffer | null>;
  /** Evaluated now; null where no such pipeline is loaded. */
  readiness(pipeline: string): Promise<ReadinessReport | null>;
  /** `applyTo` names a step; null the pipeline. */
  tryReadiness(request: { pipeline: string; readiness: unknown; applyTo: string | null }): Promise<TriedReadiness>;
  /** The verdict on an edition of a pipeline as it was made in the background; null until then. */
  verdictOf(pipeline: string, hash: string): { verdict: ReadinessVerdict; reason: string } | null;
  schedules(): Schedule[];
  gatewayTools(): Promise<GatewayTools>;
  /** Objects of pipelines and steps; null where no controller manages any. */
  syncedObjects(): Promise<SyncedObject[] | null>;
  gatewayObjects(): Promise<GatewayObjects>;
  /** The audit log, newest first. */
  listAudit(query: AuditQuery): Promise<{ rows: AuditLine[]; total: number }>;
  /** The functions behind the JSON routes. */
  statistics: Statistics;
  definitions(): Definitions;
  listAgents(): Promise<AgentList>;
  /** What the past says of steps and agents; the JSON routes answer with the same. */
  history: History;
}
