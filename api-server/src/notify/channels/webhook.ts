import { createHmac } from 'node:crypto';
import { z } from 'zod';
import type { ChannelSettings } from '../../config/notifications-schema.ts';
import { type Channel, JSON_HEADERS, refusedStatus, unanswered, unusable } from '../channel.ts';
import { plainText } from '../fit.ts';
import type { Notification } from '../message.ts';
import { ownProblem, settle } from '../own-config.ts';

const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$/;
const OwnConfig = z.strictObject({
  url: z.string().min(1).max(2048).optional(),
  headers: z.record(z.string().regex(HEADER_NAME), z.string().max(8192)).optional(),
  secret: z.string().min(1).optional(),
});
/** Headers that belong to the connection. */
const OURS = /^(content-length|content-type|host|connection|transfer-encoding|keep-alive|upgrade|webhook-.*)$/i;

/** Posts JSON; id, time and signature travel as Standard Webhooks writes them. */
export const webhook: Channel<ChannelSettings['webhook']> = {
  problem: (own) => ownProblem(OwnConfig, own),
  prepare: (written) => {
    const settled = settle(OwnConfig, written);
    if (!settled.ok) return settled;
    const byAuthor = !written.byOperator && settled.own.url !== undefined;
    // The operator's headers and secret are for the operator's address and no other.
    const { url, headers = {}, secret } = byAuthor ? settled.own : settled.config;
    if (!url) return unusable('url is not set');
    return {
      ok: true,
      target: `webhook ${url}`,
      byAuthor,
      secrets: [url, secret ?? '', ...Object.values(headers)],
      send: async (notification, io) => {
        const body = JSON.stringify(webhookBody(notification));
        const seconds = Math.floor(io.now() / 1000);
        const own = Object.entries(headers).filter(([name]) => !OURS.test(name));
        const signature: Record<string, string> = secret
          ? { 'webhook-signature': sign(secret, `${io.id}.${seconds}.${body}`) }
          : {};
        const reply = await (byAuthor ? io.guardedHttp : io.http)({
          url,
          method: 'POST',
          headers: {
            ...Object.fromEntries(own),
            ...JSON_HEADERS,
            'webhook-id': io.id,
            'webhook-timestamp': String(seconds),
            ...signature,
          },
          body,
          signal: io.signal,
        });
        if (!reply.ok) return unanswered(reply);
        return reply.status >= 200 && reply.status < 300 ? { ok: true } : refusedStatus(reply, io.now());
      },
    };
  },
};

/** The body of a delivery; keys stay as they are once released. */
export function webhookBody({ id, message }: Notification): Record<string, unknown> {
  const { event, at, text: _, link: __, buttons: ___, runId, regression, ...facts } = message;
  const run = { id: runId, ...facts };
  return { id, event, at, text: plainText(message), run, ...(regression && { regression }) };
}

/** A secret that begins with `whsec_` is base64, as that standard hands them out; any other is taken as it stands. */
function sign(secret: string, content: string): string {
  const key = secret.startsWith('whsec_') ? Buffer.from(secret.slice(6), 'base64') : Buffer.from(secret, 'utf8');
  return `v1,${createHmac('sha256', key).update(content).digest('base64')}`;
}
