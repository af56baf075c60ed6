import { z } from 'zod';
import { JSON_HEADERS, jsonObject } from '../notify/channel.ts';
import type { HttpExecutor } from '../runs/state/executor.ts';
import type { TelegramBot } from './bots.ts';
import { keepOn, type LoopDeps, type Turn } from './loop.ts';
import { press, type Pressing } from './press.ts';

export interface TelegramDeps extends LoopDeps, Pressing {
  http: HttpExecutor;
}

const POLL_SECONDS = 25;
/** A poll that says nothing for this long is dead. */
const SILENCE_MS = (POLL_SECONDS + 15) * 1000;
const ANSWER_MS = 10_000;
/** Updates of one poll: so few that the answer stays within what is read of a response. */
const LIMIT = 20;

const Id = z.union([z.number(), z.string()]).transform(String);
const CallbackQuery = z.object({
  id: z.string(),
  from: z.object({ id: Id }),
  message: z.object({ chat: z.object({ id: Id, username: z.string().optional() }) }).optional(),
  data: z.string().optional(),
});
const Update = z.object({ update_id: z.number(), callback_query: z.unknown().optional() });

/** Hears the buttons under a bot's messages by long poll, until the signal fires (Orchestration 6, rule 4). */
export async function hearTelegram(deps: TelegramDeps, bot: TelegramBot, signal: AbortSignal): Promise<void> {
  let offset: number | undefined;
  await keepOn(deps, signal, async (): Promise<Turn> => {
    const asked = {
      timeout: POLL_SECONDS,
      limit: LIMIT,
      allowed_updates: ['callback_query'],
      ...(offset === undefined ? {} : { offset }),
    };
    const answer = await call(deps, bot, { method: 'getUpdates', body: asked, signal: within(signal, SILENCE_MS) });
    if (!answer.ok) return answer;
    const updates = Array.isArray(answer.result) ? answer.result : [];
    for (const update of updates) {
      const parsed = Update.safeParse(update);
      if (!parsed.success) continue;
      const heard = await hear(deps, bot, { query: parsed.data.callback_query, signal });
      // What could not be decided now comes again with the next poll.
      if (!heard.ok) return heard;
      offset = parsed.data.update_id + 1;
    }
    return { ok: true };
  });
}

async function hear(
  deps: TelegramDeps,
  bot: TelegramBot,
  { query, signal }: { query: unknown; signal: AbortSignal },
): Promise<Turn> {
  const parsed = CallbackQuery.safeParse(query);
  if (!parsed.success) return { ok: true };
  const { id, from, message, data = '' } = parsed.data;
  const text = await verdictOf(deps, bot, { user: from.id, chat: message?.chat, value: data }).catch(() => null);
  if (text === null) return { ok: false, message: 'a decision from Telegram could not be stored yet' };
  // The spinner on the button; nothing depends on it, and after a while Telegram takes no answer any more.
  await call(deps, bot, {
    method: 'answerCallbackQuery',
    body: { callback_query_id: id, text },
    signal: within(signal, ANSWER_MS),
  });
  return { ok: true };
}

interface Pressed {
  user: string;
  chat: { id: string; username?: string | undefined } | undefined;
  value: string;
}

async function verdictOf(deps: TelegramDeps, { chats }: TelegramBot, { user, chat, value }: Pressed): Promise<string> {
  const named = chat?.username === undefined ? [] : [`@${chat.username}`];
  const rooms = chat === undefined ? [] : [chat.id, ...named];
  const configured = rooms.some((room) => chats.has(room));
  return configured ? press(deps, { platform: 'telegram', user, rooms, value }) : 'Nothing is decided from this chat.';
}

const within = (signal: AbortSignal, milliseconds: number): AbortSignal =>
  AbortSignal.any([signal, AbortSignal.timeout(milliseconds)]);

interface Request {
  method: string;
  body: object;
  signal: AbortSignal;
}

type Answered = { ok: true; result: unknown } | Extract<Turn, { ok: false }>;

/** One call of the Bot API. Its errors leave out the URL, which holds the token. */
export async function call(
  { http }: Pick<TelegramDeps, 'http'>,
  { api, token }: TelegramBot,
  { method, body, signal }: Request,
): Promise<Answered> {
  const reply = await http({
    url: `${api}/bot${token}/${method}`,
    method: 'POST',
    headers: JSON_HEADERS,
    body: JSON.stringify(body),
    signal,
  });
  if (!reply.ok) return { ok: false, message: `Telegram cannot be reached (${reply.type})` };
  const { ok, result, description, parameters } = jsonObject(reply.body) as {
    ok?: boolean;
    result?: unknown;
    description?: unknown;
    parameters?: { retry_after?: number };
  };
  if (ok === true) return { ok: true, result };
  const why =
    typeof description === 'string' ? description.replaceAll(token, '***').slice(0, 200) : `status ${reply.status}`;
  const seconds = parameters?.retry_after;
  return {
    ok: false,
    message: `Telegram refuses ${method}: ${why}`,
    ...(seconds === undefined ? {} : { afterMs: seconds * 1000 }),
  };
}
