import { LIMITS } from '../kinds/fields.ts';
import type { Finding, Loc } from '../problem.ts';
import { nameOf, type Standing } from './standing.ts';

export type Body = Record<string, unknown>;

export interface Expanded {
  body: Body;
  /** Names of the library steps, in the order of their first use. */
  uses: string[];
  findings: Finding[];
}

/** A library step as `use:` finds it: `broken` is invalid; of one that does not exist the nearest name. */
export type FindStep = (name: string) => { body: Body; standing: Standing } | 'broken' | { meant: string };

/** Who expands, and whether its pipelines may use the steps of that standing. */
export interface User {
  namespace: string | null;
  mayUse(step: Standing): boolean;
}

const NOT_INHERITED = new Set(['name', 'description', 'tags']);
const SHAPES = ['use', 'executor', 'parallel', 'fan_out'];

/**
 * Replaces each `use:` of a pipeline's body by the keys of its library step, the pipeline's own keys winning.
 * Works on the body as written, before defaults, so that a default never hides what the library says.
 */
export function expandUses(body: Body, find: FindStep, user: User): Expanded {
  const findings: Finding[] = [];
  const uses = new Set<string>();
  const room = { nodes: MAX_NODES, chars: MAX_CHARS };
  const expand = (entry: unknown, loc: Loc): unknown => {
    if (!isObject(entry)) return entry;
    const shapes = SHAPES.filter((shape) => entry[shape] !== undefined);
    if (shapes.length > 1)
      findings.push({
        loc: [...loc, shapes[1] ?? ''],
        msg: `cannot be combined with ${shapes[0]}: an entry has exactly one of them`,
      });
    if (entry['use'] !== undefined) return expandOne(entry, loc, { find, user, uses, findings, room });
    if (isObject(entry['parallel']))
      return { ...entry, parallel: withSteps(entry['parallel'], [...loc, 'parallel'], expand) };
    if (isObject(entry['fan_out']))
      return { ...entry, fan_out: withStep(entry['fan_out'], [...loc, 'fan_out'], expand) };
    return entry;
  };
  return { body: withSteps(body, [], expand), uses: [...uses], findings };
}

type ExpandEntry = (entry: unknown, loc: Loc) => unknown;

/** More steps than the schema allows stay as they are written: it refuses them. */
function withSteps(holder: Body, loc: Loc, expand: ExpandEntry): Body {
  const { steps } = holder;
  const most = loc.length === 0 ? LIMITS.entries : LIMITS.branches;
  return Array.isArray(steps)
    ? {
        ...holder,
        steps: steps.map((entry, index) => (index < most ? expand(entry, [...loc, 'steps', index]) : entry)),
      }
    : holder;
}

function withStep(holder: Body, loc: Loc, expand: ExpandEntry): Body {
  return 'step' in holder ? { ...holder, step: expand(holder['step'], [...loc, 'step']) } : holder;
}

interface Expanding {
  find: FindStep;
  user: User;
  uses: Set<string>;
  findings: Finding[];
  room: Room;
}

function expandOne(entry: Body, loc: Loc, to: Expanding): Body {
  const { use, ...own } = entry;
  if (!hasRoom(to.room)) {
    to.findings.push({ loc: [...loc, 'use'], msg: TOO_LARGE, reason: 'too_large' });
    return entry;
  }
  // An object may hold a key that keeps it from becoming text.
  const name = typeof use === 'string' ? use : '';
  const found = typeof use === 'string' ? to.find(use) : null;
  if (found === null || found === 'broken' || 'meant' in found) {
    to.findings.push({ loc: [...loc, 'use'], msg: notFound(name, found), reason: 'missing_step' });
    return entry;
  }
  if (!to.user.mayUse(found.standing)) {
    to.findings.push({ loc: [...loc, 'use'], msg: notYours(name, found.standing, to.user), reason: 'not_allowed' });
    return entry;
  }
  to.uses.add(name);
  take(found.body, to.room);
  if (!hasRoom(to.room)) {
    to.findings.push({ loc: [...loc, 'use'], msg: TOO_LARGE, reason: 'too_large' });
    return entry;
  }
  const inherited = Object.entries(found.body).filter(([key]) => !NOT_INHERITED.has(key));
  return { ...Object.fromEntries(inherited), ...own };
}

/** What the library steps of one pipeline may still add to it. */
interface Room {
  nodes: number;
  chars: number;
}

/** A step of the largest size that a pipeline uses a thousand times would take the memory of the service. */
const MAX_NODES = 20_000;
const MAX_CHARS = 1024 * 1024;
const TOO_LARGE = `the library steps up to here, written out, have more than ${MAX_NODES} nodes or ${MAX_CHARS} characters`;
const hasRoom = ({ nodes, chars }: Room): boolean => nodes >= 0 && chars >= 0;

/** Counts keys and values, until there is no room. */
function take(value: unknown, room: Room): void {
  room.nodes -= 1;
  if (typeof value === 'string') room.chars -= value.length;
  if (typeof value !== 'object' || value === null) return;
  for (const [key, item] of Object.entries(value)) {
    if (!hasRoom(room)) return;
    room.nodes -= 1;
    room.chars -= key.length;
    take(item, room);
  }
}

function notFound(use: string, found: 'broken' | { meant: string } | null): string {
  if (found === null) return 'must name a library step';
  return found === 'broken' ? `library step "${use}" is invalid` : `library step "${use}" does not exist${found.meant}`;
}

function notYours(use: string, step: Standing, user: User): string {
  return `${nameOf(user)} may not use the library step "${use}", which is of ${nameOf(step)} (tenancy.library)`;
}

function isObject(value: unknown): value is Body {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
