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
  type Refusal,
  refusedStatus,
  unanswered,
  unusable,
} from '../channel.ts';
import { cut } from '../compose.ts';
import { type Markup, markUp, plainTextWithLink } from '../fit.ts';
import type { Message } from '../message.ts';
import { chatName, ownProblem, sentBy, settle } from '../own-config.ts';

const OwnConfig = z.strictObject({ bot_token: z.string().min(1).optional(), chat_id: chatName().optional() });

const API = 'https://api.telegram.org';
/** The token stands in the path, so nothing else may look like one. */
const TOKEN = /^[A-Za-z0-9_:-]{1,128}$/;
const LIMIT = 4_096;
const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const escape = (text: string) => text.replace(/[&<>"]/g, (sign) => ENTITIES[sign] as string);

export const HTML: Markup = {
  escape,
  strong: (text) => `<b>${text}</b>`,
  link: (url, label) => `<a href="${escape(url)}">${label}</a>`,
  // All of it begins with a sign that is escaped.
  formatting: /(?!)/,
  limit: LIMIT,
};

/** Sends with `sendMessage` as HTML; an author's markup that Telegram cannot read goes out as plain text. */
export const telegram: Channel<ChannelSettings['telegram']> = {
  problem: (own) => ownProblem(OwnConfig, own),
  prepare: (written) => {
    const settled = settle(OwnConfig, written);
    if (!settled.ok) return settled;
    const { bot_token: token, chat_id: chatId, api_url: api } = settled.config;
    if (!token) return unusable('bot_token is not set');
    if (!TOKEN.test(token)) return unusable('bot_token has signs that no token has');
    if (!chatId) return unusable('chat_id is not set');
    const url = `${(api || API).replace(/\/+$/, '')}/bot${token}/sendMessage`;
    return {
      ok: true,
      target: `telegram ${token} ${chatId}`,
      secrets: [token],
      send: async ({ message }, io) => {
        const post = (words: object) => call(io, url, { ...common(chatId, message), ...words });
        const first = await post({ text: markUp(message, HTML), parse_mode: 'HTML' });
        const last =
          first === 'unreadable' ? asDelivery(await post({ text: cut(plainTextWithLink(message), LIMIT) })) : first;
        return sentBy(written, last);
      },
    };
  },
};

const common = (chatId: string, message: Message) => ({
  chat_id: chatId,
  link_preview_options: { is_disabled: true },
  ...keyboard(message),
});

/** The buttons under a message. */
export const keyboard = ({ buttons }: Pick<Message, 'buttons'>) =>
  buttons.length === 0
    ? {}
    : {
        reply_markup: { inline_keyboard: [buttons.map(({ label, value }) => ({ text: label, callback_data: value }))] },
      };

async function call(io: Io, url: string, body: object): Promise<Delivery | 'unreadable'> {
  const reply = await io.http({
    url,
    method: 'POST',
    headers: JSON_HEADERS,
    body: JSON.stringify(body),
    signal: io.signal,
  });
  return reply.ok ? outcome(reply, io) : unanswered(reply);
}

interface Answer {
  ok?: boolean;
  description?: string;
  parameters?: { retry_after?: number; migrate_to_chat_id?: number };
  result?: { message_id?: number; chat?: { id?: number } };
}

function outcome(reply: HttpReply, io: Io): Delivery | 'unreadable' {
  const answer = jsonObject(reply.body) as Answer;
  if (reply.status === 200 && answer.ok === true) return { ok: true, receipt: receiptOf(answer) };
  if (reply.status === 400 && answer.description?.includes("can't parse entities")) return 'unreadable';
  return explain(refusedStatus(reply, io.now()), answer);
}

const receiptOf = ({ result }: Answer) => ({
  chat_id: String(result?.chat?.id),
  message_id: String(result?.message_id),
});

/** Telegram says how long to wait, and where a group has gone, in the body. */
function explain(status: Refusal, { description, parameters = {} }: Answer): Delivery {
  const { retry_after: seconds, migrate_to_chat_id: chat } = parameters;
  if (chat !== undefined) return refused(`the group is now chat_id ${chat}`);
  const message = description === undefined ? status.message : `${status.message}: ${cut(description, 200)}`;
  return { ...status, message, retryAfterMs: typeof seconds === 'number' ? seconds * 1000 : status.retryAfterMs };
}

const asDelivery = (delivery: Delivery | 'unreadable'): Delivery =>
  delivery === 'unreadable' ? refused('the text was not taken') : delivery;
