import { execFileSync } from 'node:child_process';
import { linkSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { writePrivate } from './private-file.ts';

function scratch(): (file: string) => string {
  const path = mkdtempSync(join(tmpdir(), 'private-'));
  onTestFinished(() => rmSync(path, { recursive: true }));
  return (file) => join(path, file);
}

test.each([
  ['a file that is somewhere else too', (own: string, path: string) => linkSync(own, path)],
  ['a pipe', (_: string, path: string) => execFileSync('/bin/sh', ['-c', 'mkfifo "$0"', path])],
  ['a folder', (_: string, path: string) => mkdirSync(join(path, 'deep'), { recursive: true })],
])('a secret does not go where %s waits for it', (_, plant) => {
  const at = scratch();
  writeFileSync(at('own'), 'of a tool server', { mode: 0o644 });
  plant(at('own'), at('secret.new'));
  writePrivate(at('secret'), 'SECRET');
  expect(readFileSync(at('secret'), 'utf8')).toBe('SECRET');
  expect(statSync(at('secret')).mode & 0o777).toBe(0o600);
  expect(readFileSync(at('own'), 'utf8')).toBe('of a tool server');
  expect(readdirSync(at('.'))).toEqual(['own', 'secret']);
});
