import { z } from 'zod';
import type { ChannelSettings } from '../../config/notifications-schema.ts';
import { type Channel, type Delivery, type Io, refused, unusable } from '../channel.ts';
import { cut, headline } from '../compose.ts';
import { clean, plainTextWithLink } from '../fit.ts';
import type { Notification } from '../message.ts';
import { ownProblem, settle } from '../own-config.ts';

const commaSeparated = (value: unknown) =>
  typeof value === 'string' ? value.split(',').map((one) => one.trim()) : value;
const Address = z
  .string()
  .max(254)
  .regex(/^[^\s<>()"'`,;:]+@[^\s<>()"'`,;:@]+$/);
const OwnConfig = z.strictObject({ to: z.preprocess(commaSeparated, z.array(Address).min(1).max(20)).optional() });

const PORTS = { starttls: 587, tls: 465, none: 25 } as const;
const SOCKET_MS = 10_000;

/** Sends plain text over SMTP; who may be named as server and sender is the operator's alone. */
export const email: Channel<ChannelSettings['email']> = {
  problem: (own) => ownProblem(OwnConfig, own),
  prepare: (written) => {
    const settled = settle(OwnConfig, written);
    if (!settled.ok) return settled;
    const { config } = settled;
    const missing = (['host', 'from'] as const).find((key) => !config[key]);
    if (missing) return unusable(`${missing} is not set`);
    if (!config.to || config.to.length === 0) return unusable('to is not set');
    return {
      ok: true,
      target: `email ${config.host}`,
      secrets: secretsOf(config),
      send: (notification, io) => submit(config, notification, io),
    };
  },
};

type Settings = ChannelSettings['email'];

/** The password, and the forms in which a login carries it. */
function secretsOf({ user = '', password = '' }: Settings): string[] {
  const base64 = (text: string) => Buffer.from(text).toString('base64');
  return password === '' ? [] : [password, base64(password), base64(`\0${user}\0${password}`)];
}

async function submit(config: Settings, { id, message }: Notification, io: Io): Promise<Delivery> {
  // Loaded with the first mail: most installations send none.
  const { createTransport } = await import('nodemailer');
  const tls = config.tls ?? 'starttls';
  const transport = createTransport({
    host: config.host,
    port: config.port ?? PORTS[tls],
    secure: tls === 'tls',
    requireTLS: tls === 'starttls',
    ignoreTLS: tls === 'none',
    ...(config.user ? { auth: { user: config.user, pass: config.password ?? '' } } : {}),
    connectionTimeout: SOCKET_MS,
    greetingTimeout: SOCKET_MS,
    socketTimeout: SOCKET_MS,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  try {
    const sent = await transport.sendMail({
      from: config.from,
      to: config.to,
      subject: subject(message.summary === null ? headline(message) : `${headline(message)} · ${message.summary}`),
      text: plainTextWithLink(message),
      // The same at every try, so that a mailbox sees a repeat as one.
      messageId: `<${id}@signalbox>`,
      headers: { 'auto-submitted': 'auto-generated', 'x-signalbox-delivery': id },
      signal: io.signal,
    });
    return { ok: true, receipt: { message_id: sent.messageId } };
  } catch (error) {
    return explain(error);
  } finally {
    transport.close();
  }
}

const subject = (text: string): string => cut(clean(text).replace(/\s+/g, ' '), 200);

/** Faults that another try does not cure, where the server gave no code of its own. */
const LASTING = new Set(['EAUTH', 'EENVELOPE', 'ETLS']);

function explain(error: unknown): Delivery {
  const {
    code = 'SMTP',
    responseCode,
    message = 'failed',
  } = error as { code?: string; responseCode?: number; message?: string };
  const text = `${code}: ${cut(clean(message).replace(/\s+/g, ' '), 200)}`;
  const lasting = responseCode === undefined ? LASTING.has(code) : responseCode >= 500;
  return lasting ? refused(text) : { ok: false, message: text, retryable: true };
}
