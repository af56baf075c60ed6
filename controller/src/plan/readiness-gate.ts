import { type CustomObject, READINESS_GATE } from '../objects/custom-object.ts';
import type { Body } from './definition-text.ts';

type Gated = Pick<CustomObject, 'kind' | 'annotations' | 'status'>;

/** Whether evidence must decide when the pipeline leaves stage `testing`. */
export const isGated = ({ kind, annotations }: Gated): boolean =>
  kind === 'Pipeline' && annotations[READINESS_GATE] === 'enforce';

/** Whether a body is kept at stage `testing` until the verdict was ready once. */
export const isHeld = (object: Gated, body: Body): boolean =>
  isGated(object) && body['stage'] === 'production' && object.status['promoted'] !== true;

/** The body with the stage that the gate allows. */
export const throughGate = (object: Gated, body: Body): Body =>
  isHeld(object, body) ? { ...body, stage: 'testing' } : body;

/** Everything that decides over the gate of an object, as a key of caches. */
export const gateState = (object: Gated): string => `${isGated(object)} ${object.status['promoted'] === true}`;

/** `status.promoted` as it should be: set by a verdict under the gate, kept until the stage is set back to `testing`. */
export function nextPromoted(object: Gated, inProduction: boolean, verdictIsReady: boolean): true | undefined {
  if (!inProduction) return undefined;
  return object.status['promoted'] === true || (isGated(object) && verdictIsReady) ? true : undefined;
}
