import { AppError } from '@signalbox/crds';
import type { KyselyPlugin, RootOperationNode } from 'kysely';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Database } from '../../store/db/database.ts';
import { watchWrites } from '../../store/db/watch-writes.ts';
import { createWorld, sure, type World } from '../fixtures/engine.ts';
import type { ToolRequest } from '../state/executor.ts';

const PARENT = `
name: parent
steps:
  - {name: below, executor: pipeline, pipeline: child}
`;
const CHILD = `
name: child
steps: [{name: look, executor: gateway, agent: look, prompt_template: x}]
`;
const GATED = `
name: gated
steps:
  - name: look
    executor: gateway
    agent: look
    prompt_template: x
    confidence_threshold: 0.5
    calibration: {enforce: false}
`;

const QUESTION: ToolRequest = {
  backendRunId: 'g1',
  callId: 'c1',
  agent: 'look',
  server: 'cluster',
  tool: 'restart',
  input: { name: 'checkout' },
  reason: null,
};

let world: World;
/** Questions that find the database away, by what they read or write, counted from 1. */
let outage: Map<string, readonly number[]>;
let asked: Map<string, number>;

function meets(what: string): void {
  const count = (asked.get(what) ?? 0) + 1;
  asked.set(what, count);
  if (outage.get(what)?.includes(count)) throw new AppError('unavailable', 'the database does not answer; try again');
}

/** The tables that a query names, wherever. */
function tablesOf(node: RootOperationNode): string[] {
  const found = JSON.stringify(node).matchAll(
    /"table":\{"kind":"SchemableIdentifierNode","identifier":\{"kind":"IdentifierNode","name":"(\w+)"/g,
  );
  return [...found].map(([, name = '']) => name);
}

const refusing: KyselyPlugin = {
  transformQuery: ({ node }) => {
    if (node.kind === 'SelectQueryNode') for (const table of tablesOf(node)) meets(`read ${table}`);
    return node;
  },
  transformResult: async ({ result }) => result,
};

const wrap = (database: Database): Database => ({
  ...watchWrites(database, meets),
  db: database.db.withPlugin(refusing),
  reader: (signal) => database.reader(signal).withPlugin(refusing),
});

beforeEach(async () => {
  outage = new Map();
  asked = new Map();
  world = await createWorld({ pipelines: [PARENT, CHILD, GATED], agents: { look: () => sure(0.9) }, wrap });
});
afterEach(() => world.close());

describe('a run goes on once the database answers again:', () => {
  test.each([
    ['it was away when a sub-run was looked for', 'parent', 'read runs', [1]],
    ['it was away when a sub-run was stored', 'parent', 'runs.insert.before', [2]],
    ['it was away at a gate with calibration', 'gated', 'read judged_steps', [1, 2]],
  ])('%s', async (_when, pipeline, what, times) => {
    const { promise: over, resolve } = Promise.withResolvers<void>();
    outage.set(what, times);
    const id = await world.start(pipeline);
    world.hub.subscribe(id, (frame) => {
      if ('type' in frame && frame.type === 'run_complete') resolve();
    });
    await over;
    expect(asked.get(what)).toBeGreaterThan(times.length);
    expect((await world.ended(id)).run.status).toBe('completed');
  });
});

test('a question about a tool is asked, and its answer heard, where the database was away when the tool was to be called', async () => {
  world.agents['look'] = async ({ onApproval }) => sure(0.9, { decision: await onApproval?.(QUESTION) });
  outage.set('read approvals', [1]);
  const id = await world.start('gated');
  await expect.poll(() => asked.get('read approvals') ?? 0).toBeGreaterThan(0);
  const pending = async () => (await world.approvals.list({ status: 'pending' }, { limit: 9, offset: 0 })).approvals;
  await expect.poll(async () => (await pending()).length).toBe(1);
  const by = { name: 'ada', kind: 'token', role: 'operator', requestId: null } as const;
  const verdict = { decision: 'approve', fields: {}, comment: null } as const;
  await world.approvals.decide((await pending())[0]?.id ?? '', { verdict, by });
  expect((await world.ended(id)).step('look').output).toMatchObject({ decision: { approved: true, decidedBy: 'ada' } });
});
