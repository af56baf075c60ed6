import { WebSocket } from 'ws';
import { z } from 'zod';
import { JSON_HEADERS, jsonObject } from '../notify/channel.ts';
import type { HttpExecutor } from '../runs/state/executor.ts';
import type { SlackApp } from './bots.ts';
import { keepOn, type LoopDeps, type Turn } from './loop.ts';
import { press, type Pressing } from './press.ts';

export interface SlackDeps extends LoopDeps, Pressing {
  http: HttpExecutor;
}

const OPEN_MS = 10_000;
/** Slack pings every few seconds; a connection that is silent for this long is closed. */
const SILENCE_MS = 60_000;
const MAX_FRAME_BYTES = 1024 * 1024;

const Envelope = z.object({
  type: z.string(),
  envelope_id: z.string().optional(),
  reason: z.string().optional(),
  payload: z.unknown().optional(),
});
const BlockActions = z.object({
  type: z.literal('block_actions'),
  user: z.object({ id: z.string() }),
  channel: z.object({ id: z.string(), name: z.string().optional() }).optional(),
  response_url: z.string().optional(),
  /** A press is one. */
  actions: z.array(z.object({ value: z.string().optional() })).max(10),
});

/** Hears the buttons under an app's messages over Socket Mode, until the signal fires (Orchestration 6, rule 4). */
export async function hearSlack(deps: SlackDeps, app: SlackApp, signal: AbortSignal): Promise<void> {
  await keepOn(deps, signal, async (): Promise<Turn> => {
    const opened = await openConnection(deps, app, signal);
    return opened.ok ? listen(deps, app, { url: opened.url, signal }) : opened;
  });
}

type Opened = { ok: true; url: string } | Extract<Turn, { ok: false }>;

/** The address is good for one connection and soon stale. */
async function openConnection({ http }: SlackDeps, { api, appToken }: SlackApp, signal: AbortSignal): Promise<Opened> {
  const headers = { ...JSON_HEADERS, authorization: `Bearer ${appToken}` };
  const timed = AbortSignal.any([signal, AbortSignal.timeout(OPEN_MS)]);
  const reply = await http({ url: `${api}/apps.connections.open`, method: 'POST', headers, body: '{}', signal: timed });
  if (!reply.ok) return { ok: false, message: `Slack cannot be reached (${reply.type})` };
  const { ok, url, error } = jsonObject(reply.body);
  if (ok === true && typeof url === 'string' && /^wss?:/.test(url)) return { ok: true, url };
  const seconds = Number(reply.headers['retry-after']);
  const why = typeof error === 'string' ? error.slice(0, 100) : `status ${reply.status}`;
  return {
    ok: false,
    message: `Slack opens no connection: ${why}`,
    ...(seconds > 0 ? { afterMs: seconds * 1000 } : {}),
  };
}

interface Listening {
  url: string;
  signal: AbortSignal;
}

const LOST: Turn = { ok: false, message: 'the connection to Slack was lost' };
const OFF: Turn = { ok: false, message: 'Slack ended the connection; is Socket Mode switched on?' };

/** One connection to its end. Slack ends each after a while and says so; the next one is opened at once. */
function listen(deps: SlackDeps, app: SlackApp, { url, signal }: Listening): Promise<Turn> {
  return new Promise((resolve) => {
    const socket = new WebSocket(url, {
      perMessageDeflate: false,
      maxPayload: MAX_FRAME_BYTES,
      handshakeTimeout: OPEN_MS,
    });
    const silence = setTimeout(() => socket.terminate(), SILENCE_MS);
    const stop = () => socket.terminate();
    // Without a hello message, Socket Mode is switched off.
    let ending: Turn = OFF;
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true });
    socket.on('ping', () => silence.refresh());
    // The reason may hold the address, which is a secret of its own; that it was lost is enough.
    socket.on('error', () => undefined);
    socket.on('close', () => {
      clearTimeout(silence);
      signal.removeEventListener('abort', stop);
      resolve(ending);
    });
    socket.on('message', (data: Buffer, isBinary) => {
      silence.refresh();
      const envelope = isBinary ? null : readEnvelope(data.toString('utf8'));
      if (envelope === null) return;
      if (envelope.type === 'hello') ending = LOST;
      if (envelope.type === 'disconnect') {
        ending = ending === OFF || envelope.reason === 'link_disabled' ? OFF : { ok: true };
        socket.close();
      }
      if (envelope.envelope_id === undefined) return;
      // Slack asks for this within three seconds and sends again otherwise; a second press changes nothing.
      socket.send(JSON.stringify({ envelope_id: envelope.envelope_id }));
      if (envelope.type === 'interactive') void hear(deps, app, envelope.payload);
    });
  });
}

function readEnvelope(text: string): z.infer<typeof Envelope> | null {
  const parsed = Envelope.safeParse(jsonObject(text));
  return parsed.success ? parsed.data : null;
}

async function hear(deps: SlackDeps, app: SlackApp, payload: unknown): Promise<void> {
  const parsed = BlockActions.safeParse(payload);
  if (!parsed.success) return;
  const { user, channel, actions, response_url: url } = parsed.data;
  const rooms = channel === undefined ? [] : [channel.id, `#${channel.name ?? ''}`];
  const configured = rooms.some((name) => app.channels.has(name));
  for (const { value = '' } of actions) {
    const text = configured
      ? await press(deps, { platform: 'slack', user: user.id, rooms, value }).catch(
          () => 'This could not be stored; try again.',
        )
      : 'Nothing is decided from this channel.';
    if (url !== undefined) await tell(deps, app, { url, text });
  }
}

/** Answers only the user who pressed the button; only an address of Slack's own is called. */
async function tell(
  { http }: SlackDeps,
  { api }: SlackApp,
  { url, text }: { url: string; text: string },
): Promise<void> {
  const host = URL.parse(url)?.host ?? '';
  if (host !== 'hooks.slack.com' && host !== URL.parse(api)?.host) return;
  const body = JSON.stringify({ response_type: 'ephemeral', replace_original: false, text });
  await http({ url, method: 'POST', headers: JSON_HEADERS, body, signal: AbortSignal.timeout(OPEN_MS) });
}
