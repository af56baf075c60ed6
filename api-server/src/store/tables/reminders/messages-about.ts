import type { Kysely } from 'kysely';
import type { ConfigSource, Message } from '../../../notify/message.ts';
import type { Tables } from '../../db/schema.ts';

const ABOUT_RUNS = ['escalate', 'abort', 'fail', 'remind'];

/** What the outbox sent, or is sending, about a run that needs people; reminders that are not due yet are no messages. */
export async function messagesAbout(db: Kysely<Tables>, runId: string) {
  const rows = await db
    .selectFrom('notifications')
    .select(['event', 'channel', 'status', 'source', 'message', 'receipt'])
    .where('run_id', '=', runId)
    .where('event', 'in', ABOUT_RUNS)
    .execute();
  return rows
    .filter(({ event, status }) => event !== 'remind' || status !== 'pending')
    .map(({ channel, status, source, message, receipt }) => ({
      channel,
      status,
      source: JSON.parse(source) as ConfigSource,
      message: JSON.parse(message) as Message,
      receipt: receipt === null ? null : (JSON.parse(receipt) as Record<string, string>),
    }));
}
