import { expect, test } from 'vitest';
import { Metrics } from './metrics.ts';

test('every loaded agent has its runs as series, also without any', async () => {
  const metrics = new Metrics();
  metrics.readFrom({
    activeRuns: () => 2,
    queuedRuns: () => 1,
    waitingApprovals: () => 0,
    agents: () => ['busy', 'idle'],
    namespaceOf: () => null,
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

/** The lines of a scrape that begin so. */
async function linesOf(metrics: Metrics, name: string): Promise<string[]> {
  return (await metrics.text()).split('\n').filter((line) => line.startsWith(`gateway_${name}`));
}

test('however many names models have, the series have an end', async () => {
  const metrics = new Metrics();
  for (let at = 0; at < 1000; at++)
    metrics.llmRequest({ provider: 'p', model: `m${at}`, outcome: 'ok', seconds: 0, usage: null });
  expect(await linesOf(metrics, 'llm_requests_total{')).toHaveLength(501);
});

const MIB = 2 ** 20;

/** Metrics of a gateway that knows the agents `a1`, `a2` and so on of `team-a`, likewise those of other teams, and those of the operator. */
function metricsOf(): Metrics {
  const metrics = new Metrics();
  metrics.readFrom({
    activeRuns: () => 0,
    queuedRuns: () => 0,
    waitingApprovals: () => 0,
    agents: () => [],
    namespaceOf: (agent) => (agent.startsWith('operator') ? null : `team-${agent[0]}`),
    runsByAgent: () => new Map(),
    connections: () => 0,
    servers: () => [],
    pods: () => [],
  });
  return metrics;
}

const run = (agent: string) => ({ agent, status: 'failed', seconds: 0 });
const denial = (agent: string, at: number) => ({
  server: 's',
  tool: `${at}`.padStart(256, 't'),
  agent,
  outcome: 'denied',
  seconds: 0,
});

test('the agents and tools that one namespace names, and all do, have a bounded text, and room for the operator’s', async () => {
  const metrics = metricsOf();
  for (const team of 'abcdefgh')
    for (let at = 0; at < 3000; at++) {
      metrics.runFinished(run(`${team}${at}`));
      metrics.toolCall(denial(`${team}${at}`, at));
      metrics.toolCall({ ...denial(`${team}${at}`, at), tool: `${team}${at}`, outcome: 'ok' });
    }
  expect((await metrics.text()).length).toBeLessThan(3.2 * MIB);
  for (const last of ['runs_total{agent="other",status="failed"}', 'tool_calls_total{server="s",tool="other"'])
    expect(await linesOf(metrics, last)).toHaveLength(1);
  expect(await linesOf(metrics, 'tool_denials_total{server="s",tool="other",agent="other"}')).toHaveLength(1);
  metrics.runFinished(run('operator-1'));
  metrics.toolCall(denial('operator-1', 1));
  for (const own of ['runs_total{agent="operator-1"', 'run_duration_seconds_count{agent="operator-1"'])
    expect(await linesOf(metrics, own)).toHaveLength(1);
  const denials = await linesOf(metrics, 'tool_denials_total');
  expect(denials.filter((line) => line.includes('agent="operator-1"'))).toHaveLength(1);
});

test('a namespace with very many names leaves room for those of another one', async () => {
  const metrics = metricsOf();
  for (let at = 0; at < 5000; at++) metrics.runFinished(run(`a${at}`));
  metrics.runFinished(run('b1'));
  expect((await metrics.text()).length).toBeLessThan(1.2 * MIB);
  expect(await linesOf(metrics, 'runs_total{agent="b1"')).toHaveLength(1);
});

test('the names of the operator have a bounded text too', async () => {
  const metrics = metricsOf();
  for (let at = 0; at < 20_000; at++) metrics.toolCall(denial(`operator-${at}`, at));
  expect((await metrics.text()).length).toBeLessThan(4.2 * MIB);
});
