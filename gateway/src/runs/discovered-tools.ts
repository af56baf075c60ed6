import { contentHash, serverOf } from '@signalbox/crds';
import { createRest } from '@signalbox/crds/process/rest';
import { type AgentTools, isOffered, type OfferableTool } from './tool-offer.ts';

/** A tool in the status of an agent; the hash covers the server's definition of the tool. */
export interface DiscoveredTool {
  server: string;
  name: string;
  hash: string;
}

const MAX_DISCOVERED = 256;

/** What an agent could call now, in the order of names. Found once for the same tools: the controller asks every ten seconds. */
export function createDiscovery() {
  const found = new WeakMap<AgentTools, { schemas: object[]; tools: Promise<DiscoveredTool[]> }>();
  return (agent: AgentTools, available: readonly OfferableTool[]): Promise<DiscoveredTool[]> => {
    const servers = new Set(agent.tools.map((pattern) => serverOf(pattern)));
    const own = available.filter(({ server }) => servers.has(server));
    const known = found.get(agent);
    if (known && isSame(known.schemas, own)) return known.tools;
    const tools = discover(agent, own);
    found.set(agent, { schemas: own.map(({ inputSchema }) => inputSchema), tools });
    return tools;
  };
}

/** A schema lives as long as the definition that a server sent. */
const isSame = (schemas: readonly object[], tools: readonly OfferableTool[]): boolean =>
  schemas.length === tools.length && tools.every(({ inputSchema }, index) => inputSchema === schemas[index]);

async function discover(agent: AgentTools, own: readonly OfferableTool[]): Promise<DiscoveredTool[]> {
  const rest = createRest();
  const offered: OfferableTool[] = [];
  for (const tool of own) {
    await rest();
    if (isOffered(agent, tool)) offered.push(tool);
  }
  const discovered: DiscoveredTool[] = [];
  for (const tool of offered.toSorted(byName).slice(0, MAX_DISCOVERED)) {
    await rest();
    discovered.push({ server: tool.server, name: tool.name, hash: hashOf(tool) });
  }
  return discovered;
}

const keyOf = ({ server, name }: OfferableTool): string => `${server}/${name}`;
const byName = (a: OfferableTool, b: OfferableTool): number => (keyOf(a) < keyOf(b) ? -1 : 1);

interface Hashed extends Pick<OfferableTool, 'name' | 'description' | 'annotations'> {
  hash: string;
}

/** By the schema: every agent that lists the server asks for the same hashes. */
const hashes = new WeakMap<object, Hashed>();

function hashOf({ name, description, inputSchema, annotations }: OfferableTool): string {
  const known = hashes.get(inputSchema);
  const isKnown = known?.name === name && known.description === description && known.annotations === annotations;
  if (isKnown) return known.hash;
  const hash = contentHash({ name, description, inputSchema, annotations: { ...annotations } });
  hashes.set(inputSchema, { name, description, annotations, hash });
  return hash;
}
