import { expect, test, vi } from 'vitest';
import type { ActiveRun } from '../state/active-run.ts';
import { createPromptRoom } from '../state/prompt-room.ts';
import { createShares, type Shares } from '../state/shares.ts';
import { NO_SPAN } from '../state/span.ts';
import { StepResults } from '../state/step-results.ts';
import { type CheckDeps, runChecks } from './checks.ts';
import type { Begun } from './step-execution.ts';
import type { Subject } from './verify.ts';

const BODY = `[${'{},'.repeat(2_000)}{}]`;

/** One check of a webhook that answers with `BODY`. */
function runCheck(memory: Shares, env: object = {}, result: object = { ok: true, value: true }) {
  const run = {
    id: 'r',
    parent: null,
    namespace: null,
    pipeline: { name: 'p' },
    context: { labels: {}, metadata: {} },
    journal: { add: () => undefined },
    results: new StepResults(),
    triggeredAt: 0,
    blanks: new Map(),
  } as unknown as ActiveRun;
  const deps = {
    templates: {
      turn: () => Promise.resolve(),
      renderStrict: () => Promise.resolve({ ok: true, text: 'x', spans: [], missing: [] }),
      evaluate: () => Promise.resolve(result),
    },
    env: { mask: (text: string) => text, valueOf: () => undefined, ...env },
    http: () => Promise.resolve({ ok: true, status: 200, headers: {}, body: BODY }),
    prompts: createPromptRoom(memory, () => null),
    shell: null,
    now: Date.now,
  } as unknown as CheckDeps;
  const check = {
    name: 'c',
    type: 'webhook',
    url: 'x',
    method: 'GET',
    headers: {},
    expect: 'true',
    timeout_seconds: 5,
  };
  const begun = { run, step: { deterministic_checks: [check] }, name: 's', locals: {}, span: NO_SPAN };
  const subject = { answer: { output: {} }, raw: {}, signal: new AbortController().signal } as unknown as Subject;
  return runChecks(deps, begun as unknown as Begun, subject);
}

test('what a check is answered is not read where its values have no room', async () => {
  const memory = createShares(60_000);
  const parse = vi.spyOn(JSON, 'parse');
  const checked = await runCheck(memory);
  expect(parse).not.toHaveBeenCalledWith(BODY);
  parse.mockRestore();
  expect(checked).toMatchObject({
    checks: [{ passed: false, detail: expect.stringContaining('there is no room for what it reads') as string }],
  });
  expect(memory.all()).toBe(0);
});

test('an expectation that fails hides secrets before its message is cut', async () => {
  const secret = 's3cret-'.repeat(20);
  const mask = (text: string) => text.replaceAll(secret, '***');
  const msg = `${'x'.repeat(490)}${secret}`;
  const checked = await runCheck(createShares(10_000_000), { mask }, { ok: false, msg });
  expect(checked).toMatchObject({ checks: [{ passed: false, detail: `true: ${'x'.repeat(490)}***` }] });
});
