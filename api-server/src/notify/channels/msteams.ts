import { z } from 'zod';
import type { ChannelSettings } from '../../config/notifications-schema.ts';
import type { HttpReply } from '../../runs/state/executor.ts';
import {
  type Channel,
  type Delivery,
  type Io,
  JSON_HEADERS,
  refused,
  refusedStatus,
  unanswered,
  unusable,
} from '../channel.ts';
import { cut } from '../compose.ts';
import { clean } from '../fit.ts';
import type { Message, Segment } from '../message.ts';
import { ownProblem, settle } from '../own-config.ts';

const OwnConfig = z.strictObject({ url: z.string().min(1).max(2048).optional() });

/** A card of more than 28 KB is refused; this leaves room for every character to be written as three bytes. */
const MAX_TEXT = 6_000;
const COLOURS = {
  escalate: 'Warning',
  abort: 'Attention',
  stop: 'Default',
  fail: 'Attention',
  complete: 'Good',
  approval: 'Accent',
  remind: 'Warning',
  regression: 'Attention',
} as const;

/** Posts an adaptive card to an incoming webhook; whose address it is says whether the egress rules hold. */
export const msteams: Channel<ChannelSettings['msteams']> = {
  problem: (own) => ownProblem(OwnConfig, own),
  prepare: (written) => {
    const settled = settle(OwnConfig, written);
    if (!settled.ok) return settled;
    const { url } = settled.config;
    if (!url) return unusable('url is not set');
    const byAuthor = !written.byOperator && settled.own.url !== undefined;
    return {
      ok: true,
      target: `msteams ${url}`,
      byAuthor,
      secrets: [url],
      send: async ({ message }, io) => {
        const http = byAuthor ? io.guardedHttp : io.http;
        const reply = await http({
          url,
          method: 'POST',
          headers: JSON_HEADERS,
          body: JSON.stringify(teamsBody(message)),
          signal: io.signal,
        });
        return reply.ok ? outcome(reply, io) : unanswered(reply);
      },
    };
  },
};

/** The text stands in runs of a RichTextBlock, which know no markup, so a value can only ever be text. */
export function teamsBody(message: Message): Record<string, unknown> {
  const actions = message.url === null ? [] : [{ type: 'Action.OpenUrl', title: 'Open the run', url: message.url }];
  const card = {
    $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
    type: 'AdaptiveCard',
    version: '1.4',
    msteams: { width: 'Full' },
    body: paragraphs(message).map((inlines) => ({ type: 'RichTextBlock', inlines })),
    actions,
  };
  return {
    type: 'message',
    attachments: [{ contentType: 'application/vnd.microsoft.card.adaptive', contentUrl: null, content: card }],
  };
}

/** A block a line: a run does not keep line ends. */
function paragraphs({ text, event }: Message): object[][] {
  let left = MAX_TEXT;
  const lines: object[][] = [[]];
  for (const segment of text) {
    const shown = cut(clean(segment.text), Math.max(0, left));
    left -= shown.length;
    for (const [index, line] of shown.split('\n').entries()) {
      if (index > 0) lines.push([]);
      if (line !== '') lines.at(-1)?.push(textRun(segment, line, COLOURS[event]));
    }
    if (left <= 0) break;
  }
  return lines.filter((line) => line.length > 0).slice(0, 60);
}

const textRun = ({ kind }: Segment, text: string, color: string) =>
  kind === 'strong' ? { type: 'TextRun', text, weight: 'Bolder', size: 'Medium', color } : { type: 'TextRun', text };

/** The older kind of webhook answers 200 with a text when Teams refused the card. */
function outcome(reply: HttpReply, io: Io): Delivery {
  if (reply.status < 200 || reply.status >= 300) return refusedStatus(reply, io.now());
  if (!reply.body.includes('delivery failed')) return { ok: true };
  const status = Number(/HTTP error (\d{3})/.exec(reply.body)?.[1]);
  return Number.isNaN(status) ? refused('the card was refused') : refusedStatus({ ...reply, status }, io.now());
}
