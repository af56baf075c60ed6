import { expect, test } from 'vitest';
import { watchReadiness } from './watch-readiness.ts';

test('a change of readiness is logged once, a drain is not', () => {
  const said: unknown[] = [];
  const well = { database: true, database_file: true, migrations: true, definitions: true, accepting: true };
  let now = well;
  const read = watchReadiness(() => now, {
    error: (fields, message) => said.push([message, fields]),
    info: (_, message) => said.push([message]),
  });
  const probe = (next: typeof well) => {
    now = next;
    expect(read()).toBe(next);
  };
  probe(well);
  probe({ ...well, database_file: false });
  probe({ ...well, database_file: false });
  probe({ ...well, database: false, database_file: false });
  probe(well);
  probe({ ...well, accepting: false });
  expect(said).toEqual([
    ['not ready', { failing: ['database_file'] }],
    ['not ready', { failing: ['database', 'database_file'] }],
    ['ready again'],
  ]);
});
