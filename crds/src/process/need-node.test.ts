import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const NEED_NODE = join(import.meta.dirname, 'need-node.mjs');

test('a service finds no module in the home of its user, and still knows where that is', () => {
  const home = mkdtempSync(join(tmpdir(), 'need-node-'));
  mkdirSync(join(home, '.node_modules'));
  writeFileSync(join(home, '.node_modules/planted.js'), 'console.log("planted")');
  const script = `import { createRequire } from 'node:module';
    import { needNode } from ${JSON.stringify(NEED_NODE)};
    if (process.argv[1] === 'service') needNode('test');
    try { createRequire('/')('planted') } catch { console.log(process.env.HOME) }`;
  const run = (...args: string[]) =>
    spawnSync(process.execPath, ['--input-type=module', '-e', script, ...args], {
      env: { HOME: home },
      encoding: 'utf8',
    }).stdout.trim();
  expect([run(), run('service')]).toEqual(['planted', home]);
  rmSync(home, { recursive: true });
});
