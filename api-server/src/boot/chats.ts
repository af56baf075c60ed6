import { setTimeout as sleep } from 'node:timers/promises';
import type { Approvals } from '../service/approvals/approvals.ts';
import { createChats } from '../chat/chats.ts';
import { EVERYWHERE, httpExecutor } from '../executors/http.ts';
import { messagesOf } from '../store/tables/approvals.ts';
import type { Foundation } from './foundation.ts';
import type { ServiceOptions } from './options.ts';

/** Chat channels take decisions through the same use cases as the JSON routes. */
export const wireChats = ({ config, logs }: ServiceOptions, { database }: Foundation, approvals: Approvals) =>
  createChats({
    settings: config.notifications,
    http: httpExecutor(EVERYWHERE),
    decide: approvals.decide,
    onClosed: approvals.onClosed,
    messagesOf: (approval) => messagesOf(database.db, approval),
    delay: (milliseconds, signal) => sleep(milliseconds, undefined, { signal }).catch(() => undefined),
    warn: (message) => logs.log.warn(message),
  });
