import { createHash } from 'node:crypto';
import { getHeapStatistics } from 'node:v8';
import { type RpcError, rpcError, valuesIn } from '@signalbox/crds';
import { CHARS_OF_VALUE } from '../runs/held-chars.ts';
import type { ServedTool } from '../tools/tool-servers.ts';
import { MAX_DEFINITION_CHARS } from '../tools/tool.ts';

/** Characters of the tools of all pods; one takes up to two bytes of the heap. */
const MOST_CHARS = getHeapStatistics().heap_size_limit / 16;
/** Of it, how much the pods of one agent may take. */
const OF_ONE_AGENT = 1 / 8;

/** What pods say they have; one copy for all that say the same. */
export interface ToolList {
  tools: readonly ServedTool[];
  chars: number;
  hash: string;
}

/** What one pod said last. */
export interface ToldTools {
  agent: string;
  list: ToolList | null;
  /** Why its list was not taken. */
  refused: string | null;
}

/** The tools of the pods of all agents, which are bounded together. */
export class ToolRoom {
  private readonly most: number;
  private readonly told = new Set<ToldTools>();

  constructor(most = MOST_CHARS) {
    this.most = most;
  }

  /** Takes a list in the place of the last; returns why it is not taken, where there is no room for it. */
  tell(told: ToldTools, tools: readonly ServedTool[]): RpcError | null {
    this.leave(told);
    this.told.add(told);
    const json = JSON.stringify(tools);
    if (json.length > MAX_DEFINITION_CHARS)
      return this.refuse(told, `a pod describes its tools in more than ${MAX_DEFINITION_CHARS} characters`);
    const list = this.listOf(tools, json);
    if (this.chars(list, told.agent) > this.most * OF_ONE_AGENT)
      return this.wait(told, 'the tools of its pods take more memory than those of one agent may');
    if (this.chars(list) > this.most)
      return this.wait(told, 'the tools of the pods of all agents take more memory than they may');
    told.list = list;
    return null;
  }

  refuse(told: ToldTools, reason: string): RpcError {
    this.leave(told);
    this.told.add(told);
    told.refused = reason;
    return rpcError('invalid_params', reason);
  }

  leave(told: ToldTools): void {
    this.told.delete(told);
    told.list = null;
    told.refused = null;
  }

  /** The lists of all pods of an agent, or of all agents, each once. */
  lists(agent?: string): Set<ToolList> {
    const lists = [...this.told].filter((one) => agent === undefined || one.agent === agent).map(({ list }) => list);
    return new Set(lists.filter((list) => list !== null));
  }

  has(agent: string, { server, name }: Pick<ServedTool, 'server' | 'name'>): boolean {
    const isIt = (tool: ServedTool) => tool.server === server && tool.name === name;
    return this.told.values().some((one) => one.agent === agent && one.list?.tools.some(isIt));
  }

  /** Agents of which a list was not taken, with one of the reasons. */
  refused(): Map<string, string> {
    return new Map([...this.told].flatMap(({ agent, refused }) => (refused === null ? [] : [[agent, refused]])));
  }

  /** There may be room later. */
  private wait(told: ToldTools, reason: string): RpcError {
    this.refuse(told, reason);
    return rpcError('at_capacity', reason);
  }

  private listOf(tools: readonly ServedTool[], json: string): ToolList {
    const hash = createHash('sha256').update(json).digest('hex');
    const known = [...this.lists()].find((list) => list.hash === hash);
    return known ?? { tools, hash, chars: json.length + CHARS_OF_VALUE * valuesIn(json) };
  }

  private chars(list: ToolList, agent?: string): number {
    return [...this.lists(agent).add(list)].reduce((sum, { chars }) => sum + chars, 0);
  }
}
