import { hash } from 'node:crypto';
import { cutShort } from '@signalbox/crds';

/** Events of the protocol that a person would read in a run's log. The run itself says the others; unknown ones could pass for its own. */
const SHOWN = new Set([
  'queued',
  'started',
  'llm_call',
  'llm_retry',
  'model_fallback',
  'tool_call',
  'tool_result',
  'tool_denied',
]);
const TOOL_EVENTS = new Set(['tool_call', 'tool_result']);
/** What a line of the log says by itself. */
const OWN = new Set(['seq', 'ts', 'level', 'event', 'msg', 'run_id', 'step_name']);
/** Events of one call that are kept. */
export const MAX_CALL_EVENTS = 1_000;
const MAX_CHARS = 500;
const MAX_FIELDS = 32;

/** Further ones: refusals, and of each server the first calls and results of its tools. */
const MORE_REFUSALS = 100;
const MORE_FIRSTS = 50;
/** Beyond a few of each server, those of all servers share this. */
const OWN_FIRSTS = 10;
const SHARED_FIRSTS = 500;
/** Servers that are told apart: as many as an agent may list. */
const MOST_SERVERS = 64;
const MAX_SERVER = 100;
/** Tools whose events that are left out are counted apart, beside one of each server, and how long their names may be. */
const MOST_TOOLS = 20;
const MAX_TOOL = 256;

type Fields = Record<string, unknown>;
type OnEvent = (event: string, fields: Fields) => void;

/**
 * Passes on what a backend says of a call while it goes on: known events within bounds, whose fields are data. `end` says what was
 * left out.
 */
export function boundedEvents(onEvent: OnEvent): { onEvent: OnEvent; end: () => void } {
  const leftOut = new Map<string, number>();
  const servers = new Map<string, Server>();
  let kept = 0;
  let refusals = 0;
  let sharedFirsts = 0;
  const hasRoomForFirst = (server: Server): boolean => {
    server.firsts += 1;
    if (server.firsts <= OWN_FIRSTS) return true;
    return server.firsts <= MORE_FIRSTS && (sharedFirsts += 1) <= SHARED_FIRSTS;
  };
  const serverOf = ({ server: said }: Fields): Server => {
    const isShort = isText(said) && said.length <= MAX_SERVER;
    const name = isShort && (servers.has(said) || servers.size < MOST_SERVERS) ? said : 'other servers';
    const server = servers.get(name) ?? { name, told: new Set(), firsts: 0, isCounted: false };
    servers.set(name, server);
    return server;
  };
  const isFirst = (event: string, fields: Fields): boolean => {
    const server = serverOf(fields);
    const what = hash('sha1', `${event} ${toolOf(fields)}`, 'base64');
    if (server.told.has(what)) return false;
    if (kept >= MAX_CALL_EVENTS && !hasRoomForFirst(server)) return false;
    server.told.add(what);
    return true;
  };
  const hasRoom = (event: string, fields: Fields): boolean => {
    const isNew = TOOL_EVENTS.has(event) && isFirst(event, fields);
    if (kept < MAX_CALL_EVENTS) return true;
    return event === 'tool_denied' ? (refusals += 1) <= MORE_REFUSALS : isNew;
  };
  /** What an event that is left out is counted by. */
  const subjectOf = (event: string, fields: Fields): string => {
    if (event === 'tool_denied') return 'denied calls';
    if (!TOOL_EVENTS.has(event)) return 'other events';
    const server = serverOf(fields);
    const subject = `${server.name}/${toolOf(fields)}`;
    const isNamed = leftOut.has(subject) || leftOut.size < MOST_TOOLS || !server.isCounted;
    server.isCounted = true;
    return isNamed ? subject : `other tools of ${server.name}`;
  };
  return {
    onEvent: (event, fields) => {
      if (!SHOWN.has(event)) return;
      if (hasRoom(event, fields)) {
        kept += 1;
        return onEvent(event, shown(fields));
      }
      if (leftOut.size === 0) onEvent('events_left_out', { kept });
      const subject = subjectOf(event, fields);
      leftOut.set(subject, (leftOut.get(subject) ?? 0) + 1);
    },
    end: () => {
      if (leftOut.size === 0) return;
      const counts = [...leftOut].map(([subject, count]) => `${count} of ${subject}`);
      onEvent('events_left_out', { kept, left_out: counts.join(', ') });
    },
  };
}

/** One server of the backend, so that what is said of it takes no room from others. */
interface Server {
  name: string;
  /** Hashes of its tools that were told of, by event: a name may be long. */
  told: Set<string>;
  /** How many of them beyond the bound of events. */
  firsts: number;
  /** Whether an event of it is counted. */
  isCounted: boolean;
}

const toolOf = ({ tool }: Fields): string => (isText(tool) && tool.length <= MAX_TOOL ? tool : 'tools with long names');

const isText = (value: unknown): value is string => typeof value === 'string';

const shown = (fields: Fields): Fields =>
  Object.fromEntries(
    Object.entries(fields)
      .filter(([name]) => !OWN.has(name))
      .slice(0, MAX_FIELDS)
      .map(([name, value]) => [cut(name), shownValue(name, value)]),
  );

function shownValue(name: string, value: unknown): unknown {
  if (typeof value === 'string') return cut(value);
  if (typeof value !== 'object' || value === null) return value;
  const json = JSON.stringify(value);
  return name === 'usage' && json.length <= MAX_CHARS ? value : cut(json);
}

const cut = (text: string): string => cutShort(text, MAX_CHARS);
