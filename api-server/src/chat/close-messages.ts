import type { NotificationsBlock } from '../config/notifications-schema.ts';
import { JSON_HEADERS } from '../notify/channel.ts';
import { MRKDWN, slackBody } from '../notify/channels/slack.ts';
import { HTML, keyboard } from '../notify/channels/telegram.ts';
import { markUp } from '../notify/fit.ts';
import type { Button, ConfigSource, Message } from '../notify/message.ts';
import type { HttpExecutor } from '../runs/state/executor.ts';
import { apiOf } from './bots.ts';
import type { RunTurns } from './run-turns.ts';

/** A message that a person may act on, as the outbox has it. */
export interface SentMessage {
  channel: string;
  status: string;
  source: ConfigSource;
  message: Message;
  receipt: Record<string, string> | null;
}

export interface CloseDeps {
  settings: NotificationsBlock;
  http: HttpExecutor;
  delay(milliseconds: number, signal: AbortSignal): Promise<unknown>;
  warn(message: string): void;
}

const TRY_MS = 10_000;
const LOOK_AGAIN_MS = 2_000;
const LOOKS = 8;

/** What became of a question or of a run: a sentence, and the buttons that are left. */
export interface Outcome {
  runId: string;
  messages(): Promise<SentMessage[]>;
  sentence: string;
  buttons: Button[];
}

/** Changes the messages to what became of it; tried, never relied on: a stale button changes nothing. */
export async function closeMessages(deps: CloseDeps, outcome: Outcome, closing: Closing): Promise<void> {
  const { signal, inTurn } = closing;
  const done = new Set<string>();
  for (let look = 0; look < LOOKS && !signal.aborted; look++) {
    const messages = await inTurn(outcome.runId, outcome.messages);
    for (const message of messages) {
      const key = JSON.stringify(message.receipt);
      if (message.receipt === null || done.has(key)) continue;
      done.add(key);
      await close(deps, message, { outcome, signal });
    }
    // One that is on its way yet is closed once it is there.
    if (messages.every(({ status }) => status !== 'pending')) return;
    await deps.delay(LOOK_AGAIN_MS, signal);
  }
}

interface Closing {
  signal: AbortSignal;
  inTurn: RunTurns;
}

interface Edited {
  outcome: Outcome;
  signal: AbortSignal;
}

async function close(
  { settings, http, warn }: CloseDeps,
  sent: SentMessage,
  { outcome: { sentence, buttons }, signal }: Edited,
): Promise<void> {
  const text = [...sent.message.text, ...saidBy(sentence, sent.channel)];
  // A message that had no buttons, because nobody would hear them, gets none.
  const left = sent.message.buttons.length === 0 ? [] : buttons;
  const call = editOf(settings, sent, { ...sent.message, text, buttons: left });
  if (!call) return;
  const timed = AbortSignal.any([signal, AbortSignal.timeout(TRY_MS)]);
  const reply = await http({ ...call, method: 'POST', signal: timed });
  if (!reply.ok || reply.status >= 400) warn(`the buttons of a message could not be taken off (${sent.channel})`);
}

type Edit = { url: string; headers: Record<string, string>; body: string } | null;

/** The sentence for the text of a message. Slack shows the name of a member that is mentioned, where the id says nothing to people. */
function saidBy(sentence: string, channel: string): Message['text'] {
  const parts = channel === 'slack' ? sentence.split(/\bslack:([A-Z0-9]{1,64})\b/) : [sentence];
  return [
    { kind: 'value', text: '\n\n' },
    ...parts.map((text, at) =>
      at % 2 === 0 ? { kind: 'value' as const, text } : { kind: 'author' as const, text: `<@${text}>` },
    ),
  ];
}

/** The call that changes the message; null where its token is not the operator's, or the channel changes nothing. */
function editOf(settings: NotificationsBlock, { channel, source, receipt }: SentMessage, message: Message): Edit {
  const platform = EDITS[channel as keyof typeof EDITS];
  if (receipt === null || !platform) return null;
  const route =
    source.from === 'route' && Object.hasOwn(settings.routes, source.team) ? settings.routes[source.team] : undefined;
  const routed: Reach = route?.channel === channel ? (route.config as Reach) : {};
  const own: Reach = { ...settings[channel as keyof typeof EDITS], ...routed };
  if (!own.bot_token) return null;
  return platform.edit({ token: own.bot_token, api: apiOf(own.api_url, platform.api) }, receipt, message);
}

interface Reach {
  bot_token?: string | undefined;
  api_url?: string | undefined;
}

interface Access {
  token: string;
  api: string;
}

function slackEdit({ token, api }: Access, { channel, ts }: Record<string, string>, message: Message): Edit {
  const text = markUp(message, MRKDWN);
  const { blocks = [{ type: 'section', text: { type: 'mrkdwn', text, verbatim: true } }] } = slackBody(
    channel ?? '',
    message,
  );
  const headers = { ...JSON_HEADERS, authorization: `Bearer ${token}` };
  return {
    url: `${api}/chat.update`,
    headers,
    body: JSON.stringify({ channel, ts, text: text.slice(0, 300), blocks }),
  };
}

function telegramEdit({ token, api }: Access, { chat_id, message_id }: Record<string, string>, message: Message): Edit {
  const body = {
    chat_id,
    message_id: Number(message_id),
    text: markUp(message, HTML),
    parse_mode: 'HTML',
    link_preview_options: { is_disabled: true },
    ...keyboard(message),
  };
  return { url: `${api}/bot${token}/editMessageText`, headers: JSON_HEADERS, body: JSON.stringify(body) };
}

const EDITS = {
  slack: { api: 'https://slack.com/api', edit: slackEdit },
  telegram: { api: 'https://api.telegram.org', edit: telegramEdit },
};
