import { z } from 'zod';
import { block, optionalBlock, text, url, whole, words } from './fields.ts';

/** A name or id of a chat; ids may be written as a number. */
const chatName = () => z.preprocess((value) => (typeof value === 'number' ? String(value) : value), z.string());
/** An unset `${NAME}` leaves an empty string: the start-up log warns, and the channel reports an error when it is used. */
const secret = () => z.string();
const webUrl = () => z.literal('').or(url('http:', 'https:'));
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$/;

const log = { level: z.enum(['info', 'warn']).optional().describe('Level of the log line') };
const slack = {
  bot_token: secret().optional().describe('Token of the bot that sends the messages'),
  app_token: secret().optional().describe('Token of Socket Mode, which receives the button clicks'),
  channel: chatName().optional().describe('Channel that receives the messages, by name or id'),
  chat_id: chatName().optional().describe('Alias of `channel`'),
  api_url: webUrl().optional().describe('Address of the API, instead of the public one'),
};
const telegram = {
  bot_token: secret().optional().describe('Token of the bot that sends the messages'),
  chat_id: chatName().optional().describe('Chat that receives the messages'),
  api_url: webUrl().optional().describe('Address of the API, instead of the public one'),
};
const msteams = { url: webUrl().optional().describe('Address of the incoming webhook; a secret') };
const webhook = {
  url: webUrl().optional().describe('Address that receives each message as a POST request'),
  headers: z
    .record(z.string().regex(HEADER_NAME, 'is not a header name'), z.string())
    .optional()
    .describe('Additional request headers'),
  secret: secret().optional().describe('Key that signs each message with HMAC-SHA256'),
};
const email = {
  host: text().optional().describe('Mail server'),
  port: whole(1, 65_535).optional().describe('Its port'),
  tls: z.enum(['starttls', 'tls', 'none']).optional().describe('How the connection is encrypted'),
  user: z.string().optional().describe('User name at the mail server'),
  password: secret().optional().describe('Password at the mail server'),
  from: text().optional().describe('Sender'),
  to: words().optional().describe('Recipients, when the definition names none'),
};

const shapes = { log, slack, telegram, msteams, webhook, email };

const route = <N extends keyof typeof shapes>(channel: N) =>
  z.strictObject({
    channel: z.literal(channel).describe('Channel of the team'),
    config: block(shapes[channel]).describe('Settings that override those of the channel'),
  });

/** The channel of a team's approvals; `config` accepts the same keys as the block of the channel. */
const Route = z.discriminatedUnion('channel', [
  route('log'),
  route('slack'),
  route('telegram'),
  route('msteams'),
  route('webhook'),
  route('email'),
]);

const alert = <N extends keyof typeof shapes>(channel: N) =>
  route(channel).extend({
    channel: z.literal(channel).describe('Channel of the alert'),
    template: text().max(20_000).optional().describe('Text of the alert, in place of the default one'),
  });

/** Where a scheduled replay sends its alert, and in which words (Orchestration 4.6). */
export const AlertRoute = z.discriminatedUnion('channel', [
  alert('log'),
  alert('slack'),
  alert('telegram'),
  alert('msteams'),
  alert('webhook'),
  alert('email'),
]);
export type AlertRoute = z.infer<typeof AlertRoute>;

/** `notifications` of the configuration file: the operator's settings of each channel, and routes by team (Orchestration 2.13). */
export const NotificationsBlock = block({
  log: optionalBlock(log).describe('Messages in the log'),
  slack: optionalBlock(slack).describe('Slack'),
  telegram: optionalBlock(telegram).describe('Telegram'),
  msteams: optionalBlock(msteams).describe('Microsoft Teams'),
  webhook: optionalBlock(webhook).describe('JSON to an HTTP address'),
  email: optionalBlock(email).describe('Mail over SMTP'),
  routes: z
    .record(z.string().min(1).max(128), Route)
    .default({})
    .describe('Team -> channel that receives its approvals'),
  give_up_after_seconds: whole(0, 604_800)
    .default(86_400)
    .describe('How long a message is tried while its channel does not take it'),
  fallback: Route.optional().describe('Channel of the messages that another channel did not take in that time'),
});
export type NotificationsBlock = z.infer<typeof NotificationsBlock>;

type Shape<N extends keyof typeof shapes> = z.infer<z.ZodObject<(typeof shapes)[N]>>;
/** The operator's settings of each channel, all optional. The `config` of a message overrides them. */
export type ChannelSettings = { [N in keyof typeof shapes]: Shape<N> };

const SECRETS = {
  slack: ['bot_token', 'app_token'],
  telegram: ['bot_token'],
  msteams: ['url'],
  webhook: ['url', 'secret'],
  email: ['password'],
} as const;

/** Keys of secrets that are present but empty, for a warning at the start. */
export function emptySecrets(notifications: NotificationsBlock): string[] {
  const own = Object.entries(SECRETS).flatMap(([channel, keys]) =>
    emptyKeys(notifications[channel as keyof typeof SECRETS], keys).map((key) => `notifications.${channel}.${key}`),
  );
  const { routes, fallback } = notifications;
  const routesOf = Object.entries(routes).map(([team, route]) => [`routes.${team}`, route] as const);
  const places = fallback ? [...routesOf, ['fallback', fallback] as const] : routesOf;
  const routed = places.flatMap(([place, { channel, config }]) =>
    channel === 'log' ? [] : emptyKeys(config, SECRETS[channel]).map((key) => `notifications.${place}.config.${key}`),
  );
  return [...own, ...routed];
}

const emptyKeys = (settings: object | undefined, keys: readonly string[]): string[] =>
  keys.filter((key) => settings !== undefined && (settings as Record<string, unknown>)[key] === '');
