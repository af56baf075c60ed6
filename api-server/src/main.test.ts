import { EventEmitter } from 'node:events';
import { expect, test } from 'vitest';
import { endOnSurprise } from './main.ts';

test('an error that nobody expected is a line of the log before the service ends', async () => {
  const process = new EventEmitter();
  const lines: unknown[] = [];
  const ended = Promise.withResolvers<number>();
  const logs = {
    log: { error: (fields: object, message: string) => void lines.push(fields, message) },
    close: () => {
      lines.push('closed');
      return Promise.resolve();
    },
  };
  endOnSurprise(process, logs, ended.resolve);
  const error = new Error('surprise');
  process.emit('uncaughtException', error);
  expect(await ended.promise).toBe(1);
  expect(lines).toEqual([
    { err: error },
    'unexpected error: the service exits; the next start resumes its runs',
    'closed',
  ]);
});
