import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { sql } from 'kysely';
import { expect, onTestFinished, test } from 'vitest';
import { loadConfig } from '../config/load.ts';
import { createPipelineEnv } from '../config/pipeline-env.ts';
import { createLogs } from '../observability/logger.ts';
import { openDatabase } from '../store/db/open-database.ts';
import { fillOldUsage, RUNS, WITHOUT_COSTS } from '../store/fixtures/old-usage.ts';
import { readFailpoints } from './failpoints.ts';
import { createService } from './service.ts';

test('rows of an older version are completed beside the service, before its runs are packed', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'signalbox-upgrade-'));
  onTestFinished(() => rmSync(dir, { recursive: true }));
  const config = join(dir, 'config.yaml');
  const file = join(dir, 'old.db');
  writeFileSync(
    config,
    'server: {host: 127.0.0.1, port: 0}\ndatabase: {url: "sqlite:old.db"}\nauth: {allow_unauthenticated: true}\n',
  );
  const open = () => openDatabase({ autoMigrate: true, now: () => 1, file });
  const before = await open();
  await fillOldUsage(before, WITHOUT_COSTS);
  await before.close();

  const loaded = loadConfig(config, {});
  if (!loaded.ok) throw new Error(loaded.message);
  let output = '';
  const service = await createService({
    config: loaded.config,
    version: 'test',
    logs: createLogs(
      loaded.config.logging,
      new Writable({ write: (chunk: Buffer, _, done) => ((output += chunk.toString()), done()) }),
    ),
    failpoints: readFailpoints(undefined),
    pipelineEnv: createPipelineEnv([], {}),
  });
  await service.listen();
  await expect.poll(() => output).toContain('completed the usage of steps of an older version');
  await service.close();

  const after = await open();
  onTestFinished(() => after.close());
  const { rows } = await sql`SELECT input_tokens, unpriced_calls, count(*) AS steps FROM step_executions
    WHERE id <> 's${sql.raw(String(RUNS))}' AND status = 'completed' GROUP BY 1, 2`.execute(after.db);
  expect(rows).toEqual([{ input_tokens: 140, unpriced_calls: 2, steps: RUNS }]);
});
