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

/** Names of query values that look like credentials. */
const SECRET_KEY = /token|secret|key|pass|pwd|auth|sig|credential|session/i;

/** A URL for people: what stands under a name like `token` is hidden, and so are a user and a password. */
export function shownUrl(url: string, mask: (text: string) => string): string {
  const masked = mask(url);
  const parsed = URL.parse(masked);
  if (parsed === null) return masked.slice(0, MAX_URL);
  const secret = [...parsed.searchParams.keys()].filter((name) => SECRET_KEY.test(name));
  if (secret.length === 0 && parsed.username === '' && parsed.password === '') return masked.slice(0, MAX_URL);
  for (const name of secret) parsed.searchParams.set(name, '***');
  parsed.username = '';
  parsed.password = '';
  return parsed.href.slice(0, MAX_URL);
}

const MAX_URL = 500;
