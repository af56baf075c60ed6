import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { podAddresses } from './pod-addresses.ts';

function managedDir(manifest: unknown): string {
  const directory = mkdtempSync(join(tmpdir(), 'managed-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  writeFileSync(join(directory, 'manifest.json'), typeof manifest === 'string' ? manifest : JSON.stringify(manifest));
  return directory;
}
const manifestOf = (agents: Record<string, string>) => ({ files: {}, objects: [], agents });
const DNS: Record<string, string[]> = { 'agent-triage.team-a.svc': ['10.0.0.7', '10.0.0.8', 'fd00::9'] };
const lookup = async (host: string) => DNS[host] ?? Promise.reject(new Error('ENOTFOUND'));

test('the name of a headless Service is every pod behind it', async () => {
  const dir = managedDir(manifestOf({ triage: 'agent-triage.team-a.svc:18781' }));
  expect(await podAddresses('triage', { configured: {}, managedDir: dir, lookup })).toEqual([
    'ws://10.0.0.7:18781/rpc',
    'ws://10.0.0.8:18781/rpc',
    'ws://[fd00::9]:18781/rpc',
  ]);
});

test('what the operator configured wins over the manifest, and is given the usual port', async () => {
  const dir = managedDir(manifestOf({ triage: 'agent-triage.team-a.svc:18781' }));
  const configured = { triage: ['10.1.1.1', '10.1.1.2:9000', '10.1.1.1:18781', 'wss://runner.example:443'] };
  expect(await podAddresses('triage', { configured, managedDir: dir, lookup })).toEqual([
    'ws://10.1.1.1:18781/rpc',
    'ws://10.1.1.2:9000/rpc',
    'wss://runner.example/rpc',
  ]);
});

test.each([
  ['an agent without an address', manifestOf({})],
  ['a Service that has no pod', manifestOf({ triage: 'agent-triage.elsewhere.svc:18781' })],
  ['a manifest that is half written', '{"files": {'],
  ['an address that is none', manifestOf({ triage: 'http://[' })],
])('%s has no pods', async (_name, manifest) => {
  expect(await podAddresses('triage', { configured: {}, managedDir: managedDir(manifest), lookup })).toEqual([]);
});

test('a manifest that appears later is read then', async () => {
  const dir = managedDir('');
  rmSync(join(dir, 'manifest.json'));
  const deps = { configured: {}, managedDir: dir, lookup };
  expect(await podAddresses('triage', deps)).toEqual([]);
  writeFileSync(join(dir, 'manifest.json'), JSON.stringify(manifestOf({ triage: '127.0.0.1:1' })));
  expect(await podAddresses('triage', deps)).toEqual(['ws://127.0.0.1:1/rpc']);
});
