import { contentHash, isName } from '@signalbox/crds';
import { type AgentNeeds, agentNeeds } from '../objects/agent-needs.ts';
import type { CustomObject } from '../objects/custom-object.ts';
import { definitionJson } from '../objects/definition-size.ts';
import { unpackAgain, unpackBody } from '../objects/packed-body.ts';
import { type Body, definitionOf } from './definition-text.ts';
import { isHeld, throughGate } from './readiness-gate.ts';
import { type Served, servedOf } from './served.ts';

/** What is known of the body that was accepted last, without it: unpacked, those of many objects would not fit in memory. */
export interface Accepted {
  name: string;
  needs: AgentNeeds;
  inProduction: boolean;
  /** As JSON; 0 where no service would take it. */
  chars: number;
  /** Null where no service would take it. */
  served: Served | null;
}

const known = new WeakMap<CustomObject, Accepted | null>();

/** Worked out once for an object; null where it has no such body. */
export function acceptedOf(object: CustomObject): Accepted | null {
  const before = known.get(object);
  if (before !== undefined) return before;
  const { lastAccepted } = object.status;
  const body = lastAccepted && unpackBody(lastAccepted);
  const accepted = body && isName(body['name']) ? aboutBody(object, body, body['name']) : null;
  known.set(object, accepted);
  return accepted;
}

/** The body as it is served, unpacked at each call. */
export function acceptedBody(object: CustomObject): Body {
  const { lastAccepted } = object.status;
  return throughGate(object, lastAccepted && acceptedOf(object) ? unpackAgain(lastAccepted) : {});
}

function aboutBody(object: CustomObject, accepted: Body, name: string): Accepted {
  const body = throughGate(object, accepted);
  const about = { name, hash: hashOf(object, body), from: 'lastAccepted', held: isHeld(object, accepted) } as const;
  const json = definitionJson(body);
  return {
    name,
    needs: agentNeeds(body),
    inProduction: accepted['stage'] === 'production',
    chars: json?.length ?? 0,
    served: json ? servedOf(() => definitionOf(object.kind, acceptedBody(object)), about) : null,
  };
}

/** Of the steps that are taken over as they were accepted last, in one namespace, as JSON: they stay unpacked. */
const STEP_CHARS = 4 * 1024 * 1024;

/** Says of the broken steps of a plan which may be taken over. */
export function createStepRoom(): { takes(step: CustomObject): boolean } {
  const taken = new Map<string, number>();
  return {
    takes: (step) => {
      const accepted = acceptedOf(step);
      const chars = (taken.get(step.namespace) ?? 0) + (accepted?.chars ?? 0);
      if (!accepted?.served || chars > STEP_CHARS) return false;
      taken.set(step.namespace, chars);
      return true;
    },
  };
}

function hashOf({ kind, status }: CustomObject, body: Body): string {
  const agentVersion = status['agentVersion'];
  return kind === 'Agent' && typeof agentVersion === 'string' ? agentVersion : contentHash(body);
}
