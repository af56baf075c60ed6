import { describe, expect, test } from 'vitest';
import { Ledger } from './ledger.ts';

const call = (step_name: string, idempotency_key = `r1/${step_name}/0/1`) => ({
  run_id: 'r1',
  step_name,
  idempotency_key,
});
const finished = (runs: Record<string, string>) => ({ runs: new Map(Object.entries(runs)), completed: [] });

describe('what the ledger of a crash test reports', () => {
  test('nothing for a step in flight that runs again with its key', () => {
    const ledger = new Ledger();
    ledger.called(call('triage'));
    ledger.called(call('triage'));
    expect(ledger).toMatchObject({ violations: [], calls: 2, repeats: 1 });
  });

  test('a step in flight that runs again under another key', () => {
    const ledger = new Ledger();
    ledger.called(call('triage'));
    ledger.called(call('triage', 'r1/triage/0/2'));
    expect(ledger.violations).toMatchObject([{ kind: 'other_key', keys: ['r1/triage/0/1', 'r1/triage/0/2'] }]);
  });

  test.each(['stored', 'logged'] as const)('a step called again although it was seen completed (%s)', (sight) => {
    const ledger = new Ledger();
    ledger.called(call('triage'));
    ledger.saw([{ run_id: 'r1', step_name: 'triage' }], sight);
    ledger.called(call('triage'));
    expect(ledger.violations).toMatchObject([{ kind: 'repeated_step', step_name: 'triage', seen: sight }]);
  });

  test('a step called again although the next one was called', () => {
    const ledger = new Ledger();
    for (const step of ['triage', 'investigate', 'triage']) ledger.called(call(step));
    expect(ledger.violations).toMatchObject([{ kind: 'repeated_step', step_name: 'triage', seen: 'next_step_called' }]);
  });

  test('accepted webhooks whose run is missing or never ended', () => {
    const ledger = new Ledger();
    ledger.answered('a', 'r1');
    ledger.answered('b', 'r2');
    ledger.answered('c', 'r3');
    ledger.finish(finished({ r1: 'completed', r2: 'running' }));
    expect(ledger.violations).toEqual([
      { kind: 'unfinished', run_id: 'r2', key: 'b', status: 'running' },
      { kind: 'lost', run_id: 'r3', key: 'c' },
    ]);
  });

  test('two runs for one key, but not the same run named twice', () => {
    const ledger = new Ledger();
    ledger.answered('a', 'r1');
    ledger.answered('a', 'r1');
    expect(ledger.violations).toEqual([]);
    ledger.answered('a', 'r2');
    expect(ledger.violations).toEqual([{ kind: 'two_runs', key: 'a', run_ids: ['r1', 'r2'] }]);
  });
});
