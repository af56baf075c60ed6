import { z } from 'zod';
import { type Delivery, unusable, type Unusable, type Written } from './channel.ts';

export type Settled<Settings, Own> = { ok: true; config: Settings; own: Partial<Own> } | Unusable;

/** The operator's settings with the message's own over them; `schema` is all that a pipeline's author may say. */
export function settle<Settings extends object, Own extends object>(
  schema: z.ZodType<Own>,
  { operator, own, byOperator }: Written<Settings>,
): Settled<Settings, Own> {
  if (byOperator) return { ok: true, config: { ...operator, ...own }, own: own as Partial<Own> };
  const parsed = schema.safeParse(own);
  if (!parsed.success) return unusable(describe(parsed.error));
  return { ok: true, config: { ...operator, ...parsed.data }, own: parsed.data };
}

/** Whether the service's bot sends it: an author may name its token too, by a variable of `security.pipeline_env`. */
export const isServiceBot = (own: { bot_token?: unknown }, operator: { bot_token?: unknown }): boolean =>
  own.bot_token === undefined || own.bot_token === operator.bot_token;

/** Without a receipt where another bot than the service's sent it: to the service's own, its ids may be those of another message. */
export const sentBy = (
  { operator, own, byOperator }: Written<{ bot_token?: string | undefined }>,
  delivery: Delivery,
): Delivery => (delivery.ok && !byOperator && !isServiceBot(own, operator) ? { ok: true } : delivery);

/** What is wrong with an author's config, with its key. */
export function ownProblem(schema: z.ZodType, own: Record<string, unknown>): string | null {
  const parsed = schema.safeParse(own);
  return parsed.success ? null : describe(parsed.error);
}

/** Keys and rules only: the value may be a secret. */
function describe({ issues: [issue] }: z.ZodError): string {
  if (issue?.code === 'unrecognized_keys') return `config.${issue.keys[0] ?? ''} is not a key of this channel`;
  const expected = issue?.code === 'invalid_type' ? `must be of type ${issue.expected}` : 'is not valid';
  return `${['config', ...(issue?.path ?? [])].join('.')} ${expected}`;
}

/** An id that chats also write as a number. */
export const chatName = () =>
  z.preprocess((value) => (typeof value === 'number' ? String(value) : value), z.string().min(1).max(256));
