import { afterAll, expect, test } from 'vitest';
import { call } from '../support/call.ts';
import { startLocalServices } from '../support/local-services.ts';
import { tokenEnvironment } from '../support/local-tokens.ts';
import { scratchDirectory } from '../support/scratch.ts';
import { startService } from '../support/start-service.ts';
import { waitFor } from '../support/wait-for.ts';

const undo: (() => Promise<unknown> | void)[] = [];
afterAll(async () => {
  for (let last = undo.pop(); last; last = undo.pop()) await last();
});

interface Question {
  id: string;
  status: string;
}
interface Run {
  status: string;
  steps: { raw_response: { trace: { type: string; tool?: string; is_error?: boolean }[] } }[];
}

/** A rollout stops the service in good order; nobody has said no to what waits for people meanwhile. */
test('a question about a tool outlives a stop of the service in good order, and the call is made once it is approved', async () => {
  const scratch = scratchDirectory('open-question-');
  undo.push(scratch.remove);
  const about = { agent: 'machine-reader', server: 'machine', tool: 'read_load' };
  const services = await startLocalServices({
    dataDir: scratch.path,
    change: { gateway: (config) => void config.tool_policy.rules.unshift({ require_approval: about }) },
  });
  undo.push(services.stop);
  const { tokens, gateway } = services;
  let { url } = services.apiServer;
  const get = async <T>(path: string) => (await call<T>(`${url}${path}`, { token: tokens.operator })).body;
  const post = (path: string, body: object) =>
    call<{ run_id: string }>(`${url}${path}`, { token: tokens.operator, body });

  const started = await post('/pipelines/host-load/run', { summary: 'Load is high', data: { instance: 'web-1' } });
  const run = started.body.run_id;
  const questions = async () => (await get<{ approvals: Question[] }>(`/approvals?run=${run}`)).approvals;
  const asked = await waitFor(async () => (await questions())[0], { what: 'the question about the tool' });

  expect(await services.apiServer.stop()).toEqual({ code: 0, signal: null });
  const again = await startService('api-server', `${scratch.path}/api-server.yaml`, {
    env: { ...tokenEnvironment(tokens), GATEWAY_URL: gateway.url },
  });
  undo.push(() => again.stop());
  ({ url } = again);

  expect(await questions()).toMatchObject([{ id: asked.id, status: 'pending' }]);
  expect((await post(`/approvals/${asked.id}`, { decision: 'approve' })).status).toBe(200);
  const ended = await waitFor(
    async () => {
      const found = await get<Run>(`/runs/${run}`);
      return found.status === 'running' ? null : found;
    },
    { what: 'the run to end' },
  );
  expect(ended.status).toBe('completed');
  const trace = ended.steps[0]?.raw_response.trace.filter(({ tool }) => tool === 'read_load');
  expect(trace).toMatchObject([
    { type: 'approval', is_error: false },
    { type: 'tool_call', is_error: false },
  ]);
});
