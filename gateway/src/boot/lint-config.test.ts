import { expect, test } from 'vitest';
import { startTestGateway } from '../testing/start-test-gateway.ts';

const HASH = '0123456789ab'.repeat(6).slice(0, 64);

test('what has no effect, or is no address, is a warning at the start and in /health', async () => {
  const gateway = await startTestGateway({
    config: {
      mcp_servers: { metrics: { url: 'http://127.0.0.1:1/mcp', tools_hash: HASH } },
      tool_policy: { rules: [{ allow: { server: 'metrics' } }, { deny: { server: 'prod' }, reason: 'no' }] },
      runtime: { agents: { triage: ['10.0.0.1:18781', 'wss://triage.example.com', 'ftp://x', 'a b'] } },
    },
  });
  try {
    const expected = [
      'tool_policy.rules[1]: "prod" matches no tool server, so the rule has no effect; configured: metrics',
      'mcp_servers.metrics.tools_hash: is not compared with anything while tool_pinning is off',
      'runtime.agents.triage: "ftp://x" is no address; use host, host:port or wss://host:port',
      'runtime.agents.triage: "a b" is no address; use host, host:port or wss://host:port',
    ];
    expect((await gateway.http('GET', '/health', { token: null })).body.warnings).toEqual(expected);
    expect(gateway.warnings).toEqual(
      expect.arrayContaining(expected.map((warning) => expect.objectContaining({ warning, msg: 'configuration' }))),
    );
  } finally {
    await gateway.close();
  }
});

test('pinned hashes and rules with an effect are no warnings', async () => {
  const gateway = await startTestGateway({
    config: {
      mcp_servers: { metrics: { url: 'http://127.0.0.1:1/mcp', tools_hash: HASH } },
      tool_policy: { default: 'deny', rules: [{ allow: { server: 'metrics' } }] },
      tool_pinning: 'enforce',
    },
  });
  try {
    expect((await gateway.http('GET', '/health')).body.warnings).toEqual([]);
  } finally {
    await gateway.close();
  }
});
