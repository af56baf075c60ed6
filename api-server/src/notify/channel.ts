import type { Failure, HttpExecutor, HttpReply } from '../runs/state/executor.ts';
import type { Notification } from './message.ts';

/** What reached the channel; `receipt` identifies the message there, to edit it later. */
export type Delivery =
  | { ok: true; receipt?: Record<string, string> }
  /** `limited`: the receiver is well and wants fewer messages; `isOurs`: it was not asked, another message comes first. */
  | { ok: false; message: string; retryable: boolean; limited?: boolean; isOurs?: boolean; retryAfterMs?: number };

export type Refusal = Extract<Delivery, { ok: false }>;

/** A config that cannot be used; the message names keys and never a value. */
export interface Unusable {
  ok: false;
  message: string;
}

/** What a channel may use to send. */
export interface Io {
  /** The stable id of this delivery. */
  id: string;
  /** For addresses that the operator configured. */
  http: HttpExecutor;
  /** For addresses that a pipeline's author wrote: within the egress rules. */
  guardedHttp: HttpExecutor;
  /** Ends the try. */
  signal: AbortSignal;
  now(): number;
  log: { info(fields: object, msg: string): void; warn(fields: object, msg: string): void };
}

/** A channel with the config that applies to one message. */
export interface Prepared {
  ok: true;
  /** Who counts our messages there; kept in memory only, it may hold a secret. */
  target: string;
  /** Whether it goes to an address that a pipeline's author wrote. */
  byAuthor?: boolean;
  /** Values that no error and no log may show. */
  secrets: string[];
  send(notification: Notification, io: Io): Promise<Delivery>;
}

/** The two hands that write a channel's config. */
export interface Written<Settings> {
  /** `notifications.<channel>` of the service. */
  operator: Settings;
  /** The message's own config, `${NAME}` already replaced. */
  own: Record<string, unknown>;
  /** True where `own` came from the service's configuration too, and was checked there. */
  byOperator: boolean;
}

/** A notification channel; each has its own file. */
export interface Channel<Settings = never> {
  prepare(written: Written<Settings>): Prepared | Unusable;
  /** What is wrong with a config as a pipeline's author wrote it; null when nothing is. */
  problem(own: Record<string, unknown>): string | null;
}

export const unusable = (message: string): Unusable => ({ ok: false, message });
export const refused = (message: string): Refusal => ({ ok: false, message, retryable: false });

/** A call that got no answer. */
export const unanswered = ({ message, retryable }: Failure): Delivery => ({ ok: false, message, retryable });

/** An answer that is no success: busy and broken servers may be asked again. */
export function refusedStatus(reply: HttpReply, now: number): Refusal {
  const retryable = reply.status === 429 || reply.status === 408 || reply.status >= 500;
  const redirect = reply.status >= 300 && reply.status < 400 ? '; redirects are not followed' : '';
  return {
    ok: false,
    message: `answered ${reply.status}${redirect}`,
    retryable,
    limited: reply.status === 429,
    retryAfterMs: retryAfter(reply.headers['retry-after'], now),
  };
}

/** `Retry-After` as milliseconds from now: seconds or a date. */
function retryAfter(header: string | undefined, now: number): number | undefined {
  if (header === undefined) return undefined;
  const wait = /^\d+$/.test(header) ? Number(header) * 1000 : Date.parse(header) - now;
  return Number.isFinite(wait) && wait > 0 ? wait : undefined;
}

/** The JSON object in an answer; an empty one where there is none. */
export function jsonObject(text: string): Record<string, unknown> {
  try {
    const value = JSON.parse(text) as unknown;
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : {};
  } catch {
    return {};
  }
}

export const JSON_HEADERS = { 'content-type': 'application/json; charset=utf-8' };

/** A channel that throws has a fault of ours; it is as good as a failed try. */
export async function attempt(prepared: Prepared, notification: Notification, io: Io): Promise<Delivery> {
  try {
    return await prepared.send(notification, io);
  } catch (error) {
    return { ok: false, message: error instanceof Error ? error.name : 'failed', retryable: true };
  }
}

/** A text without the secrets of a channel. */
export const hide = (text: string, secrets: readonly string[]): string =>
  secrets.filter((secret) => secret.length >= 4).reduce((hidden, secret) => hidden.replaceAll(secret, '***'), text);
