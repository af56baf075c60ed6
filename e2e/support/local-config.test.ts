import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type ConfigDocument, fromLocal } from './local-config.ts';
import { ROOT } from './start-service.ts';

test.each([
  [{ command: 'node' }, join(ROOT, 'config/local')],
  [{ command: 'node', cwd: 'machine-tools' }, join(ROOT, 'config/local/machine-tools')],
  [{ url: 'http://127.0.0.1:9000/mcp' }, undefined],
])('the tool server %j of the demo starts in %s', (server, cwd) => {
  const copy: ConfigDocument = { ...server };
  fromLocal(copy);
  expect(copy['cwd']).toBe(cwd);
});
