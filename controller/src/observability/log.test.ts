import { expect, test } from 'vitest';
import { createLog } from './log.ts';

test('a line is one JSON object with who said it, and an error shows what it was', () => {
  const lines: string[] = [];
  const log = createLog('sync', { write: (line: string) => void lines.push(line) });
  log.warn({ kind: 'Pipeline', err: new TypeError('broken\nin two') }, 'tried again soon');
  expect(lines).toHaveLength(1);
  expect(lines[0]).toMatch(/^[^\n]+\n$/);
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({
    level: 'warn',
    service: 'controller',
    role: 'sync',
    kind: 'Pipeline',
    err: { type: 'TypeError', message: 'broken\nin two', stack: expect.stringContaining('log.test') },
    msg: 'tried again soon',
    ts: expect.stringMatching(/^\d{4}-.*Z$/),
  });
});
