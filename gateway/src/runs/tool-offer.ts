import { createHash } from 'node:crypto';
import { serverOf } from '@signalbox/crds';
import { createRest } from '@signalbox/crds/process/rest';
import type { ModelTool } from '../models/model.ts';
import { compileGlob, type MatchGlob } from '../policy/glob.ts';

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

/**
 * The tools of an agent's list that its servers have now; `read_only` leaves only those that call themselves read-only.
 * Other work goes on while many tools are compared with many patterns.
 */
export async function offerTools(agent: AgentTools, available: readonly OfferableTool[]): Promise<ToolOffer> {
  if (agent.tools.length === 0) return NO_TOOLS;
  const byName = new Map<string, OfferedTool>();
  const forModel: ModelTool[] = [];
  const listed = patternsOf(agent.tools);
  const unmatched = new Set(listed);
  const rest = createRest();
  for (const tool of available) {
    await rest();
    const matching = listed.filter((pattern) => patternMatches(pattern, tool));
    for (const pattern of matching) unmatched.delete(pattern);
    if (matching.length === 0 || !mayHave(agent, tool)) continue;
    const name = modelName(tool, byName);
    byName.set(name, {
      server: tool.server,
      tool: tool.name,
      needsApproval: isListed(agent.require_approval, tool),
    });
    forModel.push({ type: 'function', name, description: tool.description, inputSchema: tool.inputSchema });
  }
  const warnings = [...unmatched].map(({ pattern }) => `no tool matches ${pattern} of the agent's tools`);
  return { byName, forModel, warnings };
}

/** Whether the agent's list names the tool, and the agent may have it. */
export function isOffered(agent: AgentTools, tool: OfferableTool): boolean {
  return isListed(agent.tools, tool) && mayHave(agent, tool);
}

const mayHave = (agent: AgentTools, tool: OfferableTool): boolean =>
  !agent.read_only || tool.annotations.readOnlyHint === true;

/** Whether a list of patterns names a tool. */
export function isListed(patterns: readonly string[], tool: Pick<OfferableTool, 'server' | 'name'>): boolean {
  return patternsOf(patterns).some((pattern) => patternMatches(pattern, tool));
}

/** `server` or `server/glob`. */
interface Pattern {
  pattern: string;
  server: string;
  matchesName: MatchGlob;
}

/** Each list is compiled once. */
const compiled = new WeakMap<readonly string[], Pattern[]>();

function patternsOf(patterns: readonly string[]): readonly Pattern[] {
  const known = compiled.get(patterns);
  if (known) return known;
  const made = patterns.map((pattern) => {
    const server = serverOf(pattern);
    const matchesName = pattern === server ? () => true : compileGlob(pattern.slice(server.length + 1));
    return { pattern, server, matchesName };
  });
  compiled.set(patterns, made);
  return made;
}

const patternMatches = ({ server, matchesName }: Pattern, tool: Pick<OfferableTool, 'server' | 'name'>): boolean =>
  server === tool.server && matchesName(tool.name);

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
