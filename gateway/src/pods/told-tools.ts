import { createRest } from '@signalbox/crds/process/rest';
import type { ServedTool } from '../tools/tool-servers.ts';
import { MAX_TOOLS } from '../tools/tool.ts';
import type { ToolList } from './tool-room.ts';

/** What the pods of one agent say, and which servers run in them: of others they have nothing to say. */
export interface AgentTools {
  lists: Iterable<ToolList>;
  servers: ReadonlySet<string>;
}

/** The tools in the pods of an agent, each once, as the last pod said. */
export function toldTools({ lists, servers }: AgentTools): ServedTool[] {
  const tools = new Map<string, ServedTool>();
  for (const tool of [...lists].toReversed().flatMap((list) => list.tools)) {
    if (tools.size === MAX_TOOLS) break;
    if (servers.has(tool.server) && !tools.has(keyOf(tool))) tools.set(keyOf(tool), tool);
  }
  return [...tools.values()];
}

/** The api-server reads 4 MiB and 10,000 tools of an answer that also has those of the gateway. */
const MAX_SHOWN_BYTES = 2 * 1024 * 1024;
const MAX_SHOWN = 5000;
/** Of a tool in the answer, beside its definition. */
const ROW_BYTES = 120;

/** The tools in the pods of all agents, each once, as far as they fit an answer: long lists come last. */
export async function shownTools(agents: readonly AgentTools[]): Promise<ServedTool[]> {
  const rest = createRest();
  const tools = new Map<string, ServedTool>();
  let bytes = 0;
  const all = agents.flatMap(({ lists, servers }) => [...lists].map((list) => ({ ...list, servers })));
  for (const list of all.toSorted((a, b) => a.chars - b.chars)) {
    for (const tool of list.tools) {
      await rest();
      if (!list.servers.has(tool.server) || tools.has(keyOf(tool))) continue;
      bytes += Buffer.byteLength(JSON.stringify(tool)) + ROW_BYTES;
      if (bytes > MAX_SHOWN_BYTES || tools.size === MAX_SHOWN) return [...tools.values()];
      tools.set(keyOf(tool), tool);
    }
  }
  return [...tools.values()];
}

const keyOf = ({ server, name }: ServedTool): string => `${server}/${name}`;
