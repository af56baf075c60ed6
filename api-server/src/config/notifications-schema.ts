import { z } from 'zod';
import { block, optionalBlock, text, url, whole, words } from './fields.ts';

/** A name that chats also write as a number. */
const chatName = () => z.preprocess((value) => (typeof value === 'number' ? String(value) : value), z.string());
/** `${NAME}` of an unset variable leaves nothing: the start-up log warns, and the channel says it when it is used. */
const secret = () => z.string();
const webUrl = () => z.literal('').or(url('http:', 'https:'));
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$/;

const log = { level: z.enum(['info', 'warn']).optional() };
const slack = {
  bot_token: secret().optional(),
  channel: chatName().optional(),
  chat_id: chatName().optional(),
  api_url: webUrl().optional(),
};
const telegram = { bot_token: secret().optional(), chat_id: chatName().optional(), api_url: webUrl().optional() };
const msteams = { url: webUrl().optional() };
const webhook = {
  url: webUrl().optional(),
  headers: z.record(z.string().regex(HEADER_NAME, 'is no header name'), z.string()).optional(),
  secret: secret().optional(),
};
const email = {
  host: text().optional(),
  port: whole(1, 65_535).optional(),
  tls: z.enum(['starttls', 'tls', 'none']).optional(),
  user: z.string().optional(),
  password: secret().optional(),
  from: text().optional(),
  to: words().optional(),
};

const shapes = { log, slack, telegram, msteams, webhook, email };

const route = <N extends keyof typeof shapes>(channel: N) =>
  z.strictObject({ channel: z.literal(channel), config: block(shapes[channel]) });

/** Where a team's approvals go; `config` may hold whatever the channel's own block may. */
const Route = z.discriminatedUnion('channel', [
  route('log'),
  route('slack'),
  route('telegram'),
  route('msteams'),
  route('webhook'),
  route('email'),
]);

/** `notifications` of the configuration file: the operator's settings of each channel, and routes by team (Orchestration 2.13). */
export const NotificationsBlock = block({
  log: optionalBlock(log),
  slack: optionalBlock(slack),
  telegram: optionalBlock(telegram),
  msteams: optionalBlock(msteams),
  webhook: optionalBlock(webhook),
  email: optionalBlock(email),
  routes: z.record(z.string().min(1).max(128), Route).default({}),
});
export type NotificationsBlock = z.infer<typeof NotificationsBlock>;

type Shape<N extends keyof typeof shapes> = z.infer<z.ZodObject<(typeof shapes)[N]>>;
/** What the operator may say of each channel, all of it optional; a message's own config goes over it. */
export type ChannelSettings = { [N in keyof typeof shapes]: Shape<N> };

const SECRETS = {
  slack: ['bot_token'],
  telegram: ['bot_token'],
  msteams: ['url'],
  webhook: ['url', 'secret'],
  email: ['password'],
} as const;

/** Keys of secrets that are there and empty, for a warning at the start (Design 9). */
export function emptySecrets(notifications: NotificationsBlock): string[] {
  const own = Object.entries(SECRETS).flatMap(([channel, keys]) =>
    emptyKeys(notifications[channel as keyof typeof SECRETS], keys).map((key) => `notifications.${channel}.${key}`),
  );
  const routed = Object.entries(notifications.routes).flatMap(([team, { channel, config }]) =>
    channel === 'log'
      ? []
      : emptyKeys(config, SECRETS[channel]).map((key) => `notifications.routes.${team}.config.${key}`),
  );
  return [...own, ...routed];
}

const emptyKeys = (settings: object | undefined, keys: readonly string[]): string[] =>
  keys.filter((key) => settings !== undefined && (settings as Record<string, unknown>)[key] === '');
