import { expect, test } from 'vitest';
import { Metrics } from './metrics.ts';

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
