import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { buildBundle, startBundledController } from '../support/bundled.ts';
import { waitFor } from '../support/wait-for.ts';
import { createAccounts } from './accounts.ts';
import { flags, metricOf } from './controllers.ts';
import { type FakeGateway, startFakeGateway } from './fake-gateway.ts';
import { type KubeClient, kubeClient } from './kube-client.ts';
import { applyKinds, type ControlPlane, startControlPlane } from './start-control-plane.ts';

const AGENTS = 500;
/** The chart gives it 512. It takes more where the collector gets no time on a busy machine. */
const MAX_MB = 350;
const SPEC = { model: 'demo/any', soul: 'Be brief. '.repeat(50), tools: ['metrics/query'] };

let plane: ControlPlane;
let client: KubeClient;
let gateway: FakeGateway;
beforeAll(async () => {
  plane = await startControlPlane();
  await applyKinds(plane);
  client = kubeClient(plane);
  gateway = await startFakeGateway();
}, 600_000);
afterAll(async () => {
  await gateway?.stop();
  client?.close();
  await plane?.stop();
});

/** The most memory that a process ever had, in MB; Linux counts it. */
const peakOf = (pid: number): number =>
  Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;

test.runIf(process.platform === 'linux')(
  'making the pods of 500 Agents at once takes no more memory than a manager may have',
  async () => {
    const config = join(plane.scratch, 'gateway.json');
    const servers = { metrics: { image: 'metrics:1', port: 9000 } };
    writeFileSync(config, JSON.stringify({ providers: { demo: { type: 'demo' } }, mcp_servers: servers }));
    const { kubeconfig } = await createAccounts(plane);
    const urls = { 'gateway-config': config, 'gateway-url': gateway.url, 'runner-image': 'signalbox:1' };
    const dist = buildBundle(join(plane.scratch, 'dist'));
    const args = ['manager', '--leader-elect=false', ...flags(urls)];
    const manager = await startBundledController(dist, args, kubeconfig('manager'));
    try {
      const names = Array.from({ length: AGENTS }, (_, index) => `agent-${index}`);
      for (const name of names) gateway.serve(name, SPEC);
      const about = { apiVersion: 'signalbox.dev/v1alpha1', kind: 'Agent' };
      await client.createAll(names.map((name) => ({ ...about, metadata: { name }, spec: SPEC })));
      const isMade = async () => (await metricOf(manager, 'controller_agent_writes_total')) >= 3 * AGENTS;
      await waitFor(isMade, { what: 'all their objects', timeoutMs: 300_000, everyMs: 250 });
      expect(peakOf(manager.pid)).toBeLessThan(MAX_MB);
    } finally {
      await manager.stop();
    }
  },
  600_000,
);
