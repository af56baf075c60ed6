import { z } from 'zod';
import type { ChannelSettings } from '../../config/notifications-schema.ts';
import type { HttpReply } from '../../runs/state/executor.ts';
import {
  type Channel,
  type Delivery,
  type Io,
  JSON_HEADERS,
  jsonObject,
  refused,
  refusedStatus,
  unanswered,
  unusable,
} from '../channel.ts';
import { type Markup, markUp, plainText } from '../fit.ts';
import type { Button, Message } from '../message.ts';
import { chatName, ownProblem, sentBy, settle } from '../own-config.ts';

const OwnConfig = z.strictObject({
  bot_token: z.string().min(1).optional(),
  channel: chatName().optional(),
  chat_id: chatName().optional(),
});

const API = 'https://slack.com/api';
/** Errors that Slack gives with `ok: false` and that pass. */
const PASSING = new Set([
  'ratelimited',
  'rate_limited',
  'internal_error',
  'fatal_error',
  'service_unavailable',
  'request_timeout',
]);
const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

/** Slack's three escapes also keep a value from calling `<!channel>`; a section holds 3,000 characters. */
export const MRKDWN: Markup = {
  escape: (text) => text.replace(/[&<>]/g, (sign) => ENTITIES[sign] as string),
  strong: (text) => `*${text}*`,
  link: (url, label) => `<${url}|${label}>`,
  formatting: /[*~`]|(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])|:[\p{L}\p{M}\p{N}_+'-]+:/u,
  limit: 3_000,
};

/** Posts with `chat.postMessage` as the bot whose token is given. */
export const slack: Channel<ChannelSettings['slack']> = {
  problem: (own) => ownProblem(OwnConfig, own),
  prepare: (written) => {
    const settled = settle(OwnConfig, written);
    if (!settled.ok) return settled;
    const { config, own } = settled;
    const channel = own.channel ?? own.chat_id ?? config.channel ?? config.chat_id;
    const { bot_token: token } = config;
    if (!token) return unusable('bot_token is not set');
    if (!channel) return unusable('channel is not set');
    return {
      ok: true,
      target: `slack ${token} ${channel}`,
      secrets: [token],
      send: async ({ message }, io) => {
        const reply = await io.http({
          url: `${(config.api_url || API).replace(/\/+$/, '')}/chat.postMessage`,
          method: 'POST',
          headers: { ...JSON_HEADERS, authorization: `Bearer ${token}` },
          body: JSON.stringify(slackBody(channel, message)),
          signal: io.signal,
        });
        return sentBy(written, reply.ok ? outcome(reply, io) : unanswered(reply));
      },
    };
  },
};

export function slackBody(channel: string, message: Message): Record<string, unknown> {
  const text = markUp(message, MRKDWN);
  // Verbatim: Slack makes no mention out of words like @here, which an alert may hold.
  const section = { type: 'section', text: { type: 'mrkdwn', text, verbatim: true } };
  const actions = { type: 'actions', elements: message.buttons.map(button) };
  return {
    channel,
    // What a phone's notification shows; the blocks are what the channel shows.
    text: message.buttons.length > 0 ? MRKDWN.escape(plainText(message)).slice(0, 300) : text,
    unfurl_links: false,
    unfurl_media: false,
    ...(message.buttons.length > 0 ? { blocks: [section, actions] } : {}),
  };
}

const button = ({ label, value, style }: Button) => ({
  type: 'button',
  action_id: value,
  text: { type: 'plain_text', text: label },
  value,
  ...(style === 'plain' ? {} : { style }),
});

function outcome(reply: HttpReply, io: Io): Delivery {
  const { ok, error, channel, ts } = jsonObject(reply.body);
  if (reply.status !== 200) return refusedStatus(reply, io.now());
  if (ok === true) return { ok: true, receipt: { channel: String(channel), ts: String(ts) } };
  const code = typeof error === 'string' && /^[a-z_]{1,64}$/.test(error) ? error : 'no answer of Slack';
  if (!PASSING.has(code)) return refused(code);
  const status = code.startsWith('rate') ? 429 : 503;
  return { ...refusedStatus({ ...reply, status }, io.now()), message: code };
}
