import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { KINDS } from '../faults/databases.ts';
import { call } from '../support/call.ts';
import { scratchDirectory } from '../support/scratch.ts';
import { type Service, startService } from '../support/start-service.ts';
import { waitFor } from '../support/wait-for.ts';
import { type AttackedDatabase, attackedDatabase } from './attacked-database.ts';

describe.each(KINDS)('on %s, approvals', (kind) => {
  const scratch = scratchDirectory('approvals-');
  const config = join(scratch.path, 'api-server.yaml');
  const PEOPLE = ['ada', 'bea', 'cleo', 'dan'] as const;
  type Name = (typeof PEOPLE)[number];
  const tokenOf = (name: string) => `token-of-${name}-for-the-test`;
  let service: Service;
  let database: AttackedDatabase;

  beforeAll(async () => {
    mkdirSync(join(scratch.path, 'pipelines'));
    const step = { name: 'approve', executor: 'human', timeout_seconds: 600, prompt_template: 'Restart?' };
    const act = { ...step, name: 'act', timeout_seconds: 1, on_timeout: 'proceed' };
    for (const [name, steps] of Object.entries({ restart: [step], act: [step, act] })) {
      const pipeline = { name, stage: 'production', trigger: { match: {} }, steps };
      writeFileSync(join(scratch.path, `pipelines/${name}.yaml`), JSON.stringify(pipeline));
    }
    const tokens = PEOPLE.map((name) => ({ name, token: tokenOf(name), role: 'operator' }));
    database = await attackedDatabase(kind, scratch.path);
    writeFileSync(
      config,
      JSON.stringify({
        server: { host: '127.0.0.1', port: 0 },
        pipeline_config_dir: 'pipelines',
        database: { url: database.url },
        auth: { tokens: [...tokens, { name: 'hook', token: tokenOf('hook'), role: 'webhook' }] },
        approvals: { approvers: { default: ['ada', 'bea', ['cleo', 'slack:U1']] }, required: 2, not_the_starter: true },
      }),
    );
    service = await startService('api-server', config);
  });
  afterAll(async () => {
    await service.stop();
    await database.remove();
    scratch.remove();
  });

  interface Approval {
    id: string;
    status: string;
    approved_by: string[];
  }

  const ask = <T>(name: string, path: string, body?: object) =>
    call<T>(`${service.url}${path}`, { token: tokenOf(name), ...(body && { body }) });
  const approve = (name: Name, id: string) =>
    ask<Approval & { detail: { message: string } }>(name, `/approvals/${id}`, { decision: 'approve' });

  const approvalOf = (run: string) =>
    waitFor(
      async () =>
        (await ask<{ approvals: Approval[] }>('ada', `/approvals?run=${run}&status=pending`)).body.approvals[0],
      { what: 'the approval' },
    );
  const statusOf = async (run: string) => (await ask<{ status: string }>('ada', `/runs/${run}`)).body.status;
  const auditOf = async (run: string) => {
    const { body } = await ask<{ rows: Record<string, string>[] }>('ada', `/audit?target=${run}&action=approve`);
    return body.rows
      .toReversed()
      .map(({ actor, outcome, target }) => [actor, outcome, / sha256:\w{64}$/.test(target ?? '')]);
  };

  test('neither the starter, nor a stranger, nor one person twice gets a run approved, also not around a kill', async () => {
    const started = await ask<{ run_id: string }>('ada', '/pipelines/restart/run', {});
    const run = started.body.run_id;
    const { id } = await approvalOf(run);
    for (const name of ['ada', 'dan'] as const) expect((await approve(name, id)).status).toBe(403);
    expect((await approve('bea', id)).body).toMatchObject({ status: 'pending', approved_by: ['bea'] });
    await service.kill();
    service = await startService('api-server', config);
    expect((await approvalOf(run)).approved_by).toEqual(['bea']);
    const refused = await Promise.all(Array.from({ length: 20 }, () => approve('bea', id)));
    expect(new Set(refused.map(({ status }) => status))).toEqual(new Set([403]));
    expect(refused[0]?.body.detail.message).toContain('another person');
    expect(await statusOf(run)).toBe('running');
    expect((await approve('cleo', id)).body).toMatchObject({ status: 'approved', decided_by: 'bea, cleo' });
    await waitFor(async () => (await statusOf(run)) === 'completed', { what: 'the end of the run' });
    expect(await auditOf(run)).toEqual([
      ['bea', 'approved, 1 of 2', true],
      ['cleo', 'approved', true],
    ]);
  });

  test('who runs it again is its starter; an alert has none', async () => {
    const alert = await call<{ run_id: string }>(`${service.url}/webhook?source=generic`, {
      token: tokenOf('hook'),
      body: { pipeline: 'restart', summary: 'the checkout is down' },
    });
    const run = alert.body.run_id;
    const { id } = await approvalOf(run);
    await approve('ada', id);
    await approve('bea', id);
    await waitFor(async () => (await statusOf(run)) === 'completed', { what: 'the end of the run' });
    const again = await ask<{ run_id: string }>('bea', `/runs/${run}/rerun`, {});
    const { id: second } = await approvalOf(again.body.run_id);
    expect((await approve('bea', second)).status).toBe(403);
    expect((await approve('ada', second)).status).toBe(200);
    expect((await approve('cleo', second)).body).toMatchObject({ status: 'approved' });
  });

  test('who approved does not act again on that approval; another approver does, and so on', async () => {
    const alert = await call<{ run_id: string }>(`${service.url}/webhook?source=generic`, {
      token: tokenOf('hook'),
      body: { pipeline: 'act', summary: 'the checkout is down' },
    });
    let run = alert.body.run_id;
    const { id } = await approvalOf(run);
    await approve('ada', id);
    await approve('bea', id);
    for (let times = 0; times < 3; times++) {
      const ended = run;
      await waitFor(async () => (await statusOf(ended)) === 'completed', { what: 'the end of the run' });
      for (const name of ['ada', 'bea']) {
        const refused = await ask<{ detail: { message: string } }>(name, `/runs/${run}/rerun`, { from_step: 'act' });
        expect([refused.status, refused.body.detail.message]).toEqual([400, expect.stringContaining('rerun from it')]);
      }
      const again = await ask<{ run_id: string }>('cleo', `/runs/${run}/rerun`, { from_step: 'act' });
      expect(again.status).toBe(202);
      run = again.body.run_id;
      const { body: log } = await ask<{ rows: { outcome: string }[] }>('ada', `/audit?target=${run}&action=rerun`);
      expect(log.rows).toMatchObject([{ outcome: `accepted with approval ${id}` }]);
    }
  });
});
