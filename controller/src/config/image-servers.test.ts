import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { readImageServers } from './image-servers.ts';

function file(text: string): string {
  const directory = mkdtempSync(join(tmpdir(), 'image-servers-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const path = join(directory, 'gateway.yaml');
  writeFileSync(path, text);
  return path;
}

test('image servers are read, others are not, and a file without any has none', () => {
  const gateway = file(`
mcp_servers:
  here: {command: node, args: [server.js]}
  there: {url: "http://tools.example"}
  beside: {image: "tools:1", port: 9000, env: {LEVEL: info, TOKEN: {secret: {name: tools, key: token}}}}
`);
  const servers = readImageServers([file('security: {}'), gateway, file('')]);
  expect([...servers.keys()]).toEqual(['beside']);
  expect(servers.get('beside')).toMatchObject({ image: 'tools:1', env: { TOKEN: { secret: { key: 'token' } } } });
});

test.each([
  ['mcp_servers: {a: {image: "x:1"}}', 'mcp_servers.a.port'],
  ['mcp_servers: {a: {image: "x:1", port: 9000, env: {A: {secret: {name: s}}}}}', 'mcp_servers.a.env.A'],
  ['mcp_servers: {a: {image: "${REGISTRY}/x", port: 9000}}', 'mcp_servers.a: ${ENV} is not possible'],
  ['mcp_servers: {a: {image: "x:1", port: 9000, args: ["${TOKEN}"]}}', 'mcp_servers.a: ${ENV} is not possible'],
  ['mcp_servers: {a: {image: "x:1", port: 9000, command: node}}', 'mcp_servers.a.command'],
  ['mcp_servers: {a: {image: "x:1", port: 9000, env_from: [{prefix: A}]}}', 'exactly one of secret, configMap'],
  [
    'mcp_servers: {a: {image: "x:1", port: 9000, volumes: [{mount_path: /x, hostPath: {path: /}}]}}',
    'mcp_servers.a.volumes.0',
  ],
  [
    'mcp_servers: {a: {image: "x:1", port: 9000, volumes: [{mount_path: /x/../etc, emptyDir: {}}]}}',
    'mcp_servers.a.volumes.0.mount_path',
  ],
])('%s ends the start with the key', (text, key) => {
  expect(() => readImageServers([file(text)])).toThrow(key);
});
