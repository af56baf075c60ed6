import { createHash } from 'node:crypto';
import { serverOf } from '@signalbox/crds';
import type { ModelTool } from '../models/model.ts';
import { globMatches } from '../policy/glob.ts';

/** A tool that could be offered: as its server describes it. */
export interface OfferableTool {
  server: string;
  name: string;
  description: string;
  inputSchema: Record<string, unknown>;
  annotations: { readOnlyHint?: boolean | undefined };
}

/** A tool that this run may ask for, by the name the model is given. */
export interface OfferedTool {
  server: string;
  tool: string;
  /** A human must allow each call: the agent's own rule, beside the operator's policy. */
  needsApproval: boolean;
}

export interface ToolOffer {
  byName: ReadonlyMap<string, OfferedTool>;
  forModel: ModelTool[];
  /** Of the entries of the agent's list that no tool matches: renamed, not there, or disabled by pinning. */
  warnings: string[];
}

export interface AgentTools {
  tools: readonly string[];
  require_approval: readonly string[];
  read_only: boolean;
}

const NO_TOOLS: ToolOffer = { byName: new Map(), forModel: [], warnings: [] };

/** The tools of an agent's list that its servers have now; `read_only` leaves only those that call themselves read-only. */
export function offerTools(agent: AgentTools, available: readonly OfferableTool[]): ToolOffer {
  if (agent.tools.length === 0) return NO_TOOLS;
  const byName = new Map<string, OfferedTool>();
  const forModel: ModelTool[] = [];
  for (const tool of available) {
    if (!isOffered(agent, tool)) continue;
    const name = modelName(tool, byName);
    byName.set(name, {
      server: tool.server,
      tool: tool.name,
      needsApproval: isListed(agent.require_approval, tool),
    });
    forModel.push({ type: 'function', name, description: tool.description, inputSchema: tool.inputSchema });
  }
  const warnings = agent.tools
    .filter((pattern) => !available.some((tool) => patternMatches(pattern, tool)))
    .map((pattern) => `no tool matches ${pattern} of the agent's tools`);
  return { byName, forModel, warnings };
}

/** Whether the agent's list names the tool, and the agent may have it. */
export function isOffered(agent: AgentTools, tool: OfferableTool): boolean {
  return isListed(agent.tools, tool) && (!agent.read_only || tool.annotations.readOnlyHint === true);
}

/** Whether a list of patterns names a tool. */
export function isListed(patterns: readonly string[], tool: Pick<OfferableTool, 'server' | 'name'>): boolean {
  return patterns.some((pattern) => patternMatches(pattern, tool));
}

/** `server` or `server/glob`. */
function patternMatches(pattern: string, tool: Pick<OfferableTool, 'server' | 'name'>): boolean {
  const server = serverOf(pattern);
  if (server !== tool.server) return false;
  return pattern === server || globMatches(pattern.slice(server.length + 1), tool.name);
}

const MAX_NAME_CHARS = 64;
/** Of a name that ends in a hash. */
const KEPT_CHARS = MAX_NAME_CHARS - 9;

/** Whether a tool of this server may have the name. */
export function isNameOf(server: string, name: string): boolean {
  return name.startsWith(`${server}__`.slice(0, KEPT_CHARS));
}

/** `server__tool` in the characters that every provider accepts; a name that is long or taken ends in a hash. */
function modelName(tool: OfferableTool, taken: ReadonlyMap<string, unknown>): string {
  const plain = `${tool.server}__${tool.name}`.replace(/[^A-Za-z0-9_-]/g, '_');
  if (plain.length <= MAX_NAME_CHARS && !taken.has(plain)) return plain;
  for (let hashed = `${tool.server}/${tool.name}`; ; hashed += '/') {
    const hash = createHash('sha256').update(hashed).digest('hex').slice(0, 8);
    const name = `${plain.slice(0, KEPT_CHARS)}_${hash}`;
    if (!taken.has(name)) return name;
  }
}
