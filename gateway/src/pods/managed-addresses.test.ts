import fs, { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { createManagedAddresses } from './managed-addresses.ts';

const manifestOf = (address: string) => JSON.stringify({ files: {}, objects: [], agents: { triage: address } });
let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'managed-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

/** As the sync sidecar writes it. */
function write(text: string): void {
  writeFileSync(join(directory, 'manifest.new'), text);
  renameSync(join(directory, 'manifest.new'), join(directory, 'manifest.json'));
}

test('a manifest that appears later or is replaced is read then', () => {
  const addressOf = createManagedAddresses(directory);
  expect(addressOf('triage', '')).toBeUndefined();
  write(manifestOf('127.0.0.1:1'));
  expect([addressOf('triage', ''), addressOf('other', '')]).toEqual(['127.0.0.1:1', undefined]);
  write(manifestOf('127.0.0.1:2'));
  expect(addressOf('triage', '')).toBe('127.0.0.1:2');
});

test.each(['{"files": {', '{"files": {}}'])('a manifest that is broken names no addresses: %s', (text) => {
  write(text);
  expect(createManagedAddresses(directory)('triage', '')).toBeUndefined();
});

test('a manifest is read once, however many agents are looked for', () => {
  write(manifestOf('127.0.0.1:1'));
  const parse = vi.spyOn(JSON, 'parse');
  const addressOf = createManagedAddresses(directory);
  for (let agent = 0; agent < 1000; agent++) addressOf(`agent-${agent}`, '');
  expect(parse).toHaveBeenCalledTimes(1);
  parse.mockRestore();
});

test('a manifest that could not be read once is read again', () => {
  const addressOf = createManagedAddresses(directory);
  write(manifestOf('127.0.0.1:1'));
  addressOf('triage', '');
  write(manifestOf('127.0.0.1:2'));
  const read = vi.spyOn(fs, 'readFileSync').mockImplementationOnce(() => {
    throw new Error('too many open files');
  });
  onTestFinished(() => {
    read.mockRestore();
    syncBuiltinESMExports();
  });
  syncBuiltinESMExports();
  expect(() => addressOf('triage', '')).toThrow('too many open files');
  expect(addressOf('triage', '')).toBe('127.0.0.1:2');
});

test('an agent gets the address of its own namespace only', () => {
  const files = { 'agents/triage/agent.yaml': { kind: 'Agent', namespace: 'team-a' } };
  write(JSON.stringify({ files, objects: [], agents: { triage: '127.0.0.1:1', toString: '127.0.0.1:2' } }));
  const addressOf = createManagedAddresses(directory);
  expect(['team-a', 'team-b', ''].map((namespace) => addressOf('triage', namespace))).toEqual([
    '127.0.0.1:1',
    undefined,
    '127.0.0.1:1',
  ]);
  expect(addressOf('toString', 'team-a')).toBeUndefined();
});
