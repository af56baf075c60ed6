import { randomUUID } from 'node:crypto';
import { AppError, ERROR_STATUS, shortHash } from '@signalbox/crds';
import type { FastifyReply } from 'fastify';
import type { Actor } from '../../../service/actor.ts';
import type { LaunchOptions } from '../../../service/replay/replay.ts';
import { clientLeft } from '../../client-left.ts';
import { sentence } from '../format.ts';

/** Sent back with the form, so that a button that is pressed twice starts one batch. */
export const newKey = (): string => randomUUID();

/** A form that was changed since, after the browser's way back, is another launch. */
export const launchOptions = (form: Record<string, unknown>, actor: Actor, reply: FastifyReply): LaunchOptions => ({
  key: typeof form['key'] === 'string' ? shortHash(form) : null,
  actor,
  signal: clientLeft(reply),
});

/** As the forms call them. */
const FIELDS = new Map([
  ['from_step', 'the first step'],
  ['to_step', 'the last step'],
  ['mode', 'the prompt sent'],
]);

/** Why a launch was refused, as a sentence. Throws what is no refusal. */
export function refusalOf(error: unknown): { status: number; problem: string } {
  if (!(error instanceof AppError) || ERROR_STATUS[error.type] >= 500) throw error;
  // A message that begins with a verb is about its field.
  const text = error.message.replace(/^(?:body|path)\.([\w.-]+): (comes|is|must)?/, (_, field: string, verb?: string) =>
    verb === undefined ? '' : `${FIELDS.get(field) ?? field} ${verb}`,
  );
  return { status: ERROR_STATUS[error.type], problem: sentence(text) };
}
