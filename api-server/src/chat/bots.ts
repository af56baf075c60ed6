import type { NotificationsBlock } from '../config/notifications-schema.ts';

/** A Telegram bot whose buttons are heard, and the chats in which they are. */
export interface TelegramBot {
  api: string;
  token: string;
  chats: ReadonlySet<string>;
}

/** A Slack app whose buttons are heard over Socket Mode, and the channels (ids, or names with `#`) in which they are. */
export interface SlackApp {
  api: string;
  appToken: string;
  channels: ReadonlySet<string>;
}

const TELEGRAM_API = 'https://api.telegram.org';
const SLACK_API = 'https://slack.com/api';
/** The token stands in the path of a URL. */
const TOKEN = /^[A-Za-z0-9_:-]{1,128}$/;

export const apiOf = (url: string | undefined, otherwise: string): string => (url || otherwise).replace(/\/+$/, '');

/** The operator's own settings of a channel and of every route through it, each with all that applies. */
function settingsOf<N extends 'slack' | 'telegram'>(
  block: NotificationsBlock,
  channel: N,
): NonNullable<NotificationsBlock[N]>[] {
  const own = block[channel];
  const routed = Object.values(block.routes).flatMap((route) =>
    route.channel === channel ? [{ ...own, ...route.config }] : [],
  );
  return [...(own ? [own] : []), ...routed] as NonNullable<NotificationsBlock[N]>[];
}

/** One long poll a bot: a second one would be refused. */
export function telegramBots(block: NotificationsBlock): TelegramBot[] {
  const bots = new Map<string, TelegramBot & { chats: Set<string> }>();
  for (const { bot_token: token, chat_id: chat, api_url: url } of settingsOf(block, 'telegram')) {
    if (!token || !TOKEN.test(token)) continue;
    const api = apiOf(url, TELEGRAM_API);
    const bot = bots.get(`${api} ${token}`) ?? { api, token, chats: new Set<string>() };
    bots.set(`${api} ${token}`, bot);
    if (chat) bot.chats.add(chat);
  }
  return [...bots.values()];
}

/** One connection an app token. */
export function slackApps(block: NotificationsBlock): SlackApp[] {
  const apps = new Map<string, SlackApp & { channels: Set<string> }>();
  for (const { app_token: appToken, channel, chat_id: chat, api_url: url } of settingsOf(block, 'slack')) {
    if (!appToken) continue;
    const api = apiOf(url, SLACK_API);
    const app = apps.get(`${api} ${appToken}`) ?? { api, appToken, channels: new Set<string>() };
    apps.set(`${api} ${appToken}`, app);
    for (const name of [channel, chat]) if (name) app.channels.add(name);
  }
  return [...apps.values()];
}

/** Whether a message may be changed once it is sent: the operator's settings have a bot for it. */
export const changesMessages = (block: NotificationsBlock): boolean =>
  [...settingsOf(block, 'slack'), ...settingsOf(block, 'telegram')].some(({ bot_token: token }) => token);

/** Own settings of a definition's message that lead it away from the operator's app, or to another chat of it. */
interface OwnConfig {
  bot_token?: unknown;
  channel?: unknown;
  chat_id?: unknown;
}

/** Whether the buttons under a message are heard: it goes to a configured chat, by the operator's own app. */
export function hearsButtons(block: NotificationsBlock): (channel: string, config: OwnConfig) => boolean {
  const heard: Record<string, ReadonlySet<string>> = {
    slack: new Set(slackApps(block).flatMap(({ channels }) => [...channels])),
    telegram: new Set(telegramBots(block).flatMap(({ chats }) => [...chats])),
  };
  return (channel, own) => {
    const chats = heard[channel];
    if (chats === undefined || chats.size === 0 || own.bot_token !== undefined) return false;
    const goesTo = roomOf(block, channel, own);
    return goesTo !== null && chats.has(goesTo);
  };
}

/** The chat that a message with this config is addressed to; null where it has none. */
export function roomOf(
  block: NotificationsBlock,
  channel: string,
  { channel: room, chat_id: chat }: OwnConfig,
): string | null {
  const set: { channel?: string | undefined; chat_id?: string | undefined } | undefined =
    block[channel as 'slack' | 'telegram'];
  const goesTo = (channel === 'slack' ? room : undefined) ?? chat ?? set?.channel ?? set?.chat_id;
  return goesTo === undefined ? null : String(goesTo);
}
