import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createWorld, sure, type World } from '../fixtures/engine.ts';
import type { StepExecution } from '../state/model.ts';

const RESULTS = 4_000;
const BRANCHES = 50;

let open = 0;
const server = createServer(() => (open += 1));
let world: World;
beforeEach(async () => {
  open = 0;
  await once(server.listen(0, '127.0.0.1'), 'listening');
});
afterEach(async () => {
  server.closeAllConnections();
  server.close();
  await world.close();
});

const url = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
const text = '"{{steps.one.summary}}{{steps.one.output.text}}"';

/** Where the results of a run could be copied for each of its branches. */
test.each([
  ['webhook steps', () => `executor: webhook, url: "${url()}", payload: ${text}, timeout_seconds: 3600`],
  [
    'checks',
    () =>
      `executor: gateway, agent: a, prompt_template: ${text}, deterministic_checks: [{name: c, type: webhook, url: "${url()}", headers: {x: ${text}}, timeout_seconds: 600, expect: "true"}]`,
  ],
])(
  'a run of thousands of results whose %s wait for silent servers has no copies of them',
  async (_what, step) => {
    const fanOut = `{over: metadata.items, max_items: ${BRANCHES}, max_parallel: ${BRANCHES}, step: {${step()}}}`;
    world = await createWorld({
      pipelines: [
        `name: p\nsteps:\n  - {name: one, executor: gateway, agent: a, prompt_template: hi}\n  - {name: last, fan_out: ${fanOut}}\n`,
        'name: one\nsteps:\n  - {name: one, executor: gateway, agent: a, prompt_template: hi}\n',
      ],
      agents: { a: () => sure(0.9) },
      egressAllow: ['127.0.0.1/32'],
    });
    takeOver((await world.run('one')).step('one'));
    await world.start('p', { metadata: { items: Array.from({ length: BRANCHES }, (_, at) => at) } });
    const before = heapUsed();
    await vi.waitFor(() => expect(open).toBe(BRANCHES), { timeout: 30_000 });
    expect(heapUsed() - before).toBeLessThan(20_000_000);
  },
  40_000,
);

/** The next run begins with as many results, each of which takes little as text and much once it is read. */
function takeOver(step: StepExecution): void {
  const output = { text: ','.repeat(300) };
  const prior = Array.from({ length: RESULTS }, (_, at): StepExecution => {
    const name = `each/${at}`;
    return { ...step, id: `${step.id}-${at}`, stepName: name, kind: 'fan_out_branch', output };
  });
  const { begin } = world.engine;
  world.engine.begin = (run, state) => begin({ ...run, prior }, state);
}

function heapUsed(): number {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  return process.memoryUsage().heapUsed;
}
