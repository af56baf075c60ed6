import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { findAccount, mayOpen } from './account.ts';

const PASSWD = 'root:x:0:0:root:/root:/bin/bash\ntools:x:2001:2002::/var/lib/tools:/usr/sbin/nologin\n';

test.each([
  ['tools', { name: 'tools', uid: 2001, gid: 2002, home: '/var/lib/tools' }],
  [2001, { name: 'tools', uid: 2001, gid: 2002, home: '/var/lib/tools' }],
  [4711, { name: '4711', uid: 4711, gid: 4711, home: '/' }],
  ['nobody-knows', null],
])('the user %s is found by name or id', (user, account) => {
  expect(findAccount(user, PASSWD)).toEqual(account);
});

test.each([
  [0o600, 0o755, false],
  [0o644, 0o755, true],
  [0o644, 0o700, false],
  [0o640, 0o711, false],
])('a file of mode %o in a directory of mode %o', (mode, above, open) => {
  const root = mkdtempSync(join(tmpdir(), 'account-'));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  chmodSync(root, 0o755);
  const directory = join(root, 'in');
  mkdirSync(directory);
  const file = join(directory, 'file');
  writeFileSync(file, '');
  chmodSync(file, mode);
  chmodSync(directory, above);
  const stranger = { name: 'x', uid: 4_000_000, gid: 4_000_000, home: '/' };
  expect(mayOpen(file, stranger)).toBe(open);
  expect(mayOpen(join(directory, 'none'), stranger)).toBe(false);
});
