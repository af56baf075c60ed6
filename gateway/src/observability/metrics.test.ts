import { expect, test } from 'vitest';
import { Metrics } from './metrics.ts';

test('every loaded agent has its runs as series, also without any', async () => {
  const metrics = new Metrics();
  metrics.readFrom({
    activeRuns: () => 2,
    queuedRuns: () => 1,
    waitingApprovals: () => 0,
    agents: () => ['busy', 'idle'],
    runsByAgent: () => new Map([['busy', { active: 2, queued: 1 }]]),
    connections: () => 0,
    servers: () => [],
    pods: () => [],
  });
  const text = await metrics.text();
  for (const line of [
    'active{agent="busy"} 2',
    'queued{agent="busy"} 1',
    'active{agent="idle"} 0',
    'queued{agent="idle"} 0',
  ])
    expect(text).toContain(`gateway_agent_runs_${line}\n`);
  expect(text).toContain('gateway_agents 2\n');
});

test('however many names tools and models have, the series have an end', async () => {
  const metrics = new Metrics();
  for (let at = 0; at < 1000; at++) {
    metrics.toolCall({ server: 's', tool: `t${at}`, agent: 'a', outcome: 'ok', seconds: 0 });
    metrics.llmRequest({ provider: 'p', model: `m${at}`, outcome: 'ok', seconds: 0, usage: null });
  }
  const lines = (await metrics.text()).split('\n');
  const of = (name: string) => lines.filter((line) => line.startsWith(`gateway_${name}{`));
  expect(of('tool_calls_total')).toHaveLength(501);
  expect(of('tool_calls_total').at(-1)).toBe('gateway_tool_calls_total{server="s",tool="other",outcome="ok"} 500');
  expect(of('llm_requests_total')).toHaveLength(501);
});
