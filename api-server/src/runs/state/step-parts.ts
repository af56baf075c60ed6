/** A request as people may see it, without secrets; `status` is null where no answer came. */
export interface TriedRequest {
  method: string;
  url: string;
  status: number | null;
}

export const STEP_PARTS = ['attempt', 'pause', 'queue', 'slot', 'before_restart', 'failure_webhook'] as const;

/**
 * A stretch of a step's time as this service measured it, in milliseconds since the epoch. What an agent did inside of an
 * attempt is in its trace. `pause`: between two attempts. `queue`: the backend had no room yet. `slot`: waited for a slot of
 * this service. `before_restart`: until the service went on with the step.
 */
export interface StepPart {
  part: (typeof STEP_PARTS)[number];
  startedAt: number;
  endedAt: number;
  iteration: number;
  attempt: number;
  /** What an attempt failed with. */
  error?: string;
  request?: TriedRequest;
  /** An agent was asked, and its backend did not say what it did. */
  unreported?: true;
}

/** What stands under a name like this in a query is a credential. Of a text that is not short it takes long. */
const SECRET_VALUE = /([?&](?=[^=&#]*(?:token|secret|key|pass|pwd|auth|sig|credential|session))[^=&#]*=)[^&#]*/gi;
const USER = /^([a-z][a-z0-9+.-]*:\/\/)[^/?#@]*@/i;
const MAX_URL = 500;

/** A URL for people: without the operator's secrets, without a user and a password, without credentials in its query. */
export const shownUrl = (url: string, mask: (text: string) => string): string =>
  mask(url).replace(USER, '$1').slice(0, MAX_URL).replaceAll(SECRET_VALUE, '$1***').slice(0, MAX_URL);
