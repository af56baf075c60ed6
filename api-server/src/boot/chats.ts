import { setTimeout as sleep } from 'node:timers/promises';
import type { Approvals } from '../service/approvals/approvals.ts';
import { createChats } from '../chat/chats.ts';
import type { Config } from '../config/config.ts';
import { httpExecutor } from '../executors/http.ts';
import type { Logs } from '../observability/logger.ts';
import { messagesOf } from '../store/tables/approvals.ts';
import type { Database } from '../store/db/database.ts';

export interface ChatParts {
  config: Pick<Config, 'notifications'>;
  logs: Pick<Logs, 'log'>;
  database: Database;
  approvals: Approvals;
}

/** Addresses in the service configuration are trusted, because the operator sets them. */
const EVERYWHERE = ['0.0.0.0/0', '::/0'];

/** Chat channels take decisions through the same use cases as the JSON routes. */
export const wireChats = ({ config, logs, database, approvals }: ChatParts) =>
  createChats({
    settings: config.notifications,
    http: httpExecutor(EVERYWHERE),
    decide: approvals.decide,
    onClosed: approvals.onClosed,
    messagesOf: (approval) => messagesOf(database.db, approval),
    delay: (milliseconds, signal) => sleep(milliseconds, undefined, { signal }).catch(() => undefined),
    warn: (message) => logs.log.warn(message),
  });
