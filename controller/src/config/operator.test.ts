import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { readOperator } from './operator.ts';

const root = mkdtempSync(join(tmpdir(), 'operator-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

function file(name: string, text: string): string {
  writeFileSync(join(root, name), text);
  return join(root, name);
}

test('what both services allow is one operator, and a silent file takes nothing back', () => {
  const apiServer = file('api-server.yaml', 'security: { allow_shell_checks: true, pipeline_env: [REPORT_URL] }\n');
  const gateway = file(
    'gateway.yaml',
    'providers: { demo: { type: demo } }\nmcp_servers: { box: { command: node }, kube: { image: tools, port: 80 } }\n',
  );
  expect(readOperator({ files: [apiServer, gateway], withGateway: true }, 'ops')).toEqual({
    allow_shell_checks: true,
    pipeline_env: ['REPORT_URL'],
    providers: ['demo'],
    mcp_servers: { box: 'process', kube: 'image' },
    tenancy: { open: false, library: [], namespaces: {}, home: 'ops' },
  });
});

test('the rules of namespaces come from the api-server’s file, the namespace of the release from the account', () => {
  const apiServer = file('tenancy.yaml', 'tenancy: { open: true, namespaces: { shop: { agents: [a] } } }\n');
  const gateway = file('plain.yaml', 'providers: {}\n');
  expect(readOperator({ files: [apiServer, gateway], withGateway: true }, 'ops')?.tenancy).toEqual({
    open: true,
    library: [],
    namespaces: { shop: { agents: ['a'] } },
    home: 'ops',
  });
});

test('a gateway that names no providers and no tool servers has the scripted provider and no server', () => {
  const empty = file('empty.yaml', 'agents_dir: agents\n');
  const known = { providers: ['demo'], mcp_servers: {} };
  expect(readOperator({ files: [empty], withGateway: true }, 'ops')).toMatchObject(known);
  const none = file('none.yaml', 'providers: {}\nmcp_servers:\n');
  expect(readOperator({ files: [none], withGateway: true }, 'ops')).toMatchObject(known);
  expect(readOperator({ files: [empty], withGateway: false }, 'ops')).toEqual({
    tenancy: { open: false, library: [], namespaces: {}, home: 'ops' },
  });
});

test('without a file nothing is known of what is allowed', () => {
  expect(readOperator({ files: [], withGateway: false }, 'ops')).toBeUndefined();
});

test.each([
  ['broken.yaml', 'security: [', 'broken.yaml'],
  ['wrong.yaml', 'security: { allow_shell_checks: "yes" }', 'security.allow_shell_checks'],
])('%s ends the start with its name', (name, text, expected) => {
  expect(() => readOperator({ files: [file(name, text)], withGateway: false }, 'ops')).toThrow(expected);
});
