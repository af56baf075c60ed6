import { BucketBody, MAX_K, ReplayLaunch } from '../../../service/replay/bodies.ts';

/** What was entered, as text; `samples` is `current`, `set:<id>` or a bucket as JSON. */
export interface Entered {
  step: string;
  samples: string;
  k: string;
  mode: string;
  model: string;
  agent: string;
  /** Null where it was not sent: the recorded template stays. */
  prompt: string | null;
  /** The hash of the template that the form began with. */
  begun: string;
}

export const DEFAULT_K = 20;

/** Line ends as templates have them; browsers send CRLF. */
export const unix = (text: string): string => text.replaceAll('\r\n', '\n');
export const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

export function readEntered(form: Record<string, unknown>): Entered {
  const line = (key: string) => textOf(form[key]).trim();
  const prompt = form['prompt'];
  return {
    step: line('step'),
    samples: line('samples') || bucketIn(form) || 'current',
    k: line('k') || String(DEFAULT_K),
    mode: line('mode') || 'rendered',
    model: line('model'),
    agent: line('agent'),
    prompt: typeof prompt === 'string' ? unix(prompt) : null,
    begun: line('begun'),
  };
}

const PARTS = ['agent', 'model', 'provider', 'prompt_hash', 'agent_version'] as const;

/** A link names a bucket by its parts, `of_agent` and so on; one that is absent has none. */
function bucketIn(query: Record<string, unknown>): string | null {
  if (!PARTS.some((part) => typeof query[`of_${part}`] === 'string')) return null;
  return bucketValue(Object.fromEntries(PARTS.map((part) => [part, textOf(query[`of_${part}`]) || null])));
}

/** The value of a bucket's option. */
export const bucketValue = (bucket: Record<string, unknown>): string =>
  JSON.stringify(Object.fromEntries(PARTS.map((part) => [part, bucket[part] ?? null])));

export const bucketLink = (bucket: Record<string, unknown>): Record<string, string> =>
  Object.fromEntries(PARTS.flatMap((part) => (typeof bucket[part] === 'string' ? [[`of_${part}`, bucket[part]]] : [])));

/** The golden set that was chosen; null where executions of a bucket were. */
export const setIdIn = ({ samples }: Entered): string | null => (samples.startsWith('set:') ? samples.slice(4) : null);

/** The chosen bucket; null for the current one. */
export function bucketOf({ samples }: Entered) {
  try {
    return BucketBody.safeParse(JSON.parse(samples)).data ?? null;
  } catch {
    return null;
  }
}

/** What the candidate changes; `recorded` is the template that the samples were asked with. */
export function candidateIn(
  { model, agent, prompt }: Pick<Entered, 'model' | 'agent' | 'prompt'>,
  recorded: string | null,
) {
  const changed = prompt !== null && prompt.trim() !== '' && prompt !== recorded;
  return { model: model || null, agent: agent || null, prompt_template: changed ? prompt : null };
}

/** The body of a launch, or what is wrong with it. A changed template cannot be sent as it was recorded. */
export function launchOf(entered: Entered, recorded: string | null) {
  const candidate = candidateIn(entered, recorded);
  const asked = ReplayLaunch.safeParse({
    bucket: bucketOf(entered) ?? 'current',
    candidate,
    mode: candidate.prompt_template === null ? entered.mode : 'rerender',
    k: Number(entered.k),
  });
  if (asked.success) return { ok: true as const, body: asked.data };
  const [issue] = asked.error.issues;
  const field = issue?.path.join('.') ?? '';
  const problem = field === 'k' ? `Samples: a whole number from 1 to ${MAX_K}` : `${field}: ${issue?.message}`;
  return { ok: false as const, problem };
}
