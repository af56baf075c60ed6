import { expect, test } from 'vitest';
import { podAddresses } from './pod-addresses.ts';

const managed = (agent: string) => (agent === 'triage' ? 'agent-triage.team-a.svc:18781' : undefined);
const DNS: Record<string, string[]> = { 'agent-triage.team-a.svc': ['10.0.0.7', '10.0.0.8', 'fd00::9'] };
const lookup = async (host: string) => DNS[host] ?? Promise.reject(new Error('ENOTFOUND'));

test('the name of a headless Service is every pod behind it', async () => {
  expect(await podAddresses('triage', { configured: {}, managed, lookup })).toEqual([
    'ws://10.0.0.7:18781/rpc',
    'ws://10.0.0.8:18781/rpc',
    'ws://[fd00::9]:18781/rpc',
  ]);
});

test('what the operator configured wins over the manifest, and is given the usual port', async () => {
  const configured = { triage: ['10.1.1.1', '10.1.1.2:9000', '10.1.1.1:18781', 'wss://runner.example:443'] };
  expect(await podAddresses('triage', { configured, managed, lookup })).toEqual([
    'ws://10.1.1.1:18781/rpc',
    'ws://10.1.1.2:9000/rpc',
    'wss://runner.example/rpc',
  ]);
});

test.each([
  ['an agent without an address', undefined],
  ['a Service that has no pod', 'agent-triage.elsewhere.svc:18781'],
  ['an address that is none', 'http://['],
])('%s has no pods', async (_name, address) => {
  expect(await podAddresses('triage', { configured: {}, managed: () => address, lookup })).toEqual([]);
});
