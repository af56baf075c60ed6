import { afterAll, beforeAll, expect, test } from 'vitest';
import { call } from '../support/call.ts';
import { type LocalServices, startLocalServices } from '../support/local-services.ts';
import { scratchDirectory } from '../support/scratch.ts';
import { waitFor } from '../support/wait-for.ts';

interface Approval {
  id: string;
  run_id: string;
  step_name: string;
  tool: { agent: string; server: string; tool: string; input_sha256: string; reason: string | null } | null;
}
interface Run {
  status: string;
  waiting_on: string | null;
  steps: { status: string; raw_response: { trace: { type: string; tool?: string; is_error?: boolean }[] } }[];
}

const undo: (() => Promise<unknown> | void)[] = [];
let services: LocalServices;

beforeAll(async () => {
  const scratch = scratchDirectory('tool-approval-');
  undo.push(scratch.remove);
  services = await startLocalServices({
    dataDir: scratch.path,
    change: {
      gateway: (config) => {
        config.tool_policy.rules.unshift({
          require_approval: { agent: 'machine-reader', server: 'machine', tool: 'read_load' },
          reason: 'somebody must know',
        });
      },
    },
  });
  undo.push(services.stop);
});
afterAll(async () => {
  for (let last = undo.pop(); last; last = undo.pop()) await last();
});

const get = async <T>(path: string) => {
  const { apiServer, tokens } = services;
  return (await call<T>(`${apiServer.url}${path}`, { token: tokens.operator })).body;
};
const post = (path: string, body: object) =>
  call<{ run_id: string }>(`${services.apiServer.url}${path}`, { token: services.tokens.operator, body });

/** Starts a run whose agent reads the load, and waits for the question about it. */
async function asked(): Promise<{ id: string; question: Approval }> {
  const started = await post('/pipelines/host-load/run', { summary: 'Load is high', data: { instance: 'web-1' } });
  expect(started.status).toBe(202);
  const id = started.body.run_id;
  const read = async () => (await get<{ approvals: Approval[] }>(`/approvals?run=${id}`)).approvals[0];
  return { id, question: await waitFor(read, { what: 'the question about the tool' }) };
}

async function ended(id: string): Promise<Run> {
  const read = async () => {
    const run = await get<Run>(`/runs/${id}`);
    return run.status === 'running' ? null : run;
  };
  return waitFor(read, { what: 'the run to end' });
}

/** The trace entries of the call in the first step, in order. */
const trail = ({ steps }: Run) => {
  const about = steps[0]?.raw_response.trace.filter(({ tool }) => tool === 'read_load') ?? [];
  return about.map(({ type, is_error }) => ({ type, is_error }));
};

test('a tool call that needs a person waits in the gateway until the approval in the api-server allows it', async () => {
  const { id, question } = await asked();
  expect(question).toMatchObject({
    run_id: id,
    tool: { server: 'machine', tool: 'read_load', reason: 'somebody must know' },
  });
  expect((await get<Run>(`/runs/${id}`)).waiting_on).toBe('human');
  expect((await post(`/approvals/${question.id}`, { decision: 'approve' })).status).toBe(200);
  const run = await ended(id);
  expect(run.status).toBe('completed');
  expect(trail(run)).toMatchObject([
    { type: 'approval', is_error: false },
    { type: 'tool_call', is_error: false },
  ]);
});

test('a rejected call never happens: the agent hears no, and the run goes on without it', async () => {
  const { id, question } = await asked();
  const comment = 'not during the freeze';
  expect((await post(`/approvals/${question.id}`, { decision: 'reject', comment })).status).toBe(200);
  const run = await ended(id);
  expect(trail(run)).toMatchObject([{ type: 'approval', is_error: true }, { type: 'tool_denied' }]);
  expect(['completed', 'escalated']).toContain(run.status);
  const { rows } = await get<{ rows: { target: string }[] }>('/audit?action=reject');
  expect(rows).toMatchObject([{ actor: 'local-operator', outcome: 'rejected', run_id: id }]);
  expect(rows[0]?.target).toContain(`sha256:${question.tool?.input_sha256}`);
});

test('cancelling the run takes the question back', async () => {
  const { id, question } = await asked();
  await post(`/runs/${id}/cancel`, {});
  expect((await ended(id)).status).toBe('cancelled');
  const late = await post(`/approvals/${question.id}`, { decision: 'approve' });
  expect(late.status).toBe(409);
});
