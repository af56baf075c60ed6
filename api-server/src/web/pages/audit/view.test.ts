import { expect, test } from 'vitest';
import { type DefinitionEntry, snapshotOf } from '../fixtures/fake-deps.ts';
import type { AuditLine } from '../../../service/views/audit.ts';
import { diffLines } from '../diff/diff-lines.ts';
import { readFilters } from './filters.ts';
import { auditView } from './view.ts';

const ROW: AuditLine = {
  id: 7,
  ts: '2026-11-21T11:59:00.000Z',
  actor: 'ada',
  actor_kind: 'token',
  role: 'admin',
  action: 'update',
  target_type: 'pipeline',
  target: 'checkout',
  run_id: null,
  outcome: 'updated',
  prior_yaml: 'name: checkout\nstage: testing\n',
  request_id: 'r-1',
};
const entry = (text: string): DefinitionEntry => ({
  name: 'checkout',
  file: 'checkout.yaml',
  text,
  hash: 'h',
  config: {},
});
const definitions = (text?: string) => snapshotOf({ pipelines: text === undefined ? [] : [entry(text)] });
const view = (
  row: AuditLine,
  { open = null as number | null, text = undefined as string | undefined, query = {} } = {},
) =>
  auditView({
    rows: [row],
    total: 1,
    filters: readFilters(query),
    open,
    definitions: definitions(text),
    now: Date.parse('2026-11-21T12:00:00Z'),
  });

test('a row with the YAML before unfolds by an address that keeps the filters', () => {
  const [row] = view(ROW, { query: { actor: 'ada', page: '1' } }).rows;
  expect(row).toMatchObject({ href: '/ui/audit?actor=ada&open=7#row-7', expanded: 'false', prior: null, age: '1 m' });
  const [open] = view(ROW, { open: 7 }).rows;
  expect(open).toMatchObject({ href: '/ui/audit#row-7', expanded: 'true' });
});

test('the YAML before is compared with what is there now', () => {
  const [row] = view(ROW, { open: 7, text: 'name: checkout\nstage: production\n' }).rows;
  expect(row?.prior?.diff).toEqual([
    { sign: ' ', text: 'name: checkout', look: 'kept' },
    { sign: '-', text: 'stage: testing', look: 'removed' },
    { sign: '+', text: 'stage: production', look: 'added' },
  ]);
  expect(view(ROW, { open: 7, text: ROW.prior_yaml ?? '' }).rows[0]?.prior).toMatchObject({ same: true, diff: null });
  expect(view(ROW, { open: 7 }).rows[0]?.prior).toMatchObject({ gone: true, diff: null, lines: [{}, {}] });
});

test('a run leads to its page, a reload nowhere', () => {
  const cancelled = { ...ROW, prior_yaml: null, action: 'cancel', target_type: 'run', target: 'r1', run_id: 'r1' };
  expect(view(cancelled).rows[0]).toMatchObject({ href: '/ui/runs/r1', unfolds: false });
  expect(view({ ...ROW, prior_yaml: null, target_type: 'definitions', target: null }).rows[0]?.href).toBeNull();
});

test('the resolution of a run is told in words', () => {
  const row = { ...ROW, prior_yaml: null, action: 'resolve', target_type: 'run', target: 'r1', run_id: 'r1' };
  expect(view({ ...row, outcome: 'resolved, wont_fix' }).rows[0]?.look.word).toBe('resolved, will not fix');
});

test('a decision names its step and leads to its run, and the filters of the page find it', () => {
  const row = {
    ...ROW,
    prior_yaml: null,
    action: 'approve',
    target_type: 'approval',
    target: 'a-1 restart sha256:0f',
    run_id: 'r1',
  };
  const { rows, selects } = view(row, { query: { action: row.action } });
  expect(rows[0]).toMatchObject({
    action: 'Approve',
    what: 'step restart of run r1',
    href: '/ui/runs/r1?step=restart',
  });
  const [actions] = selects;
  expect(actions?.options.filter(({ selected }) => selected)).toHaveLength(1);
  expect(actions?.options).toHaveLength(view(row).selects[0]?.options.length ?? 0);
});

test('ids are cut to their end, and a row leads to what it is about', () => {
  const id = '01a219ba-5262-72c5-83c3-b7638753a542';
  const shown = (fields: Partial<AuditLine>) => {
    const { what, href } = view({ ...ROW, prior_yaml: null, ...fields }).rows[0]!;
    return [what, href];
  };
  expect(shown({ target_type: 'run', target: id, run_id: id })).toEqual(['run …8753a542', `/ui/runs/${id}`]);
  expect(shown({ target_type: 'step', target: 'look', run_id: id })).toEqual([
    'step look of run …8753a542',
    `/ui/runs/${id}?step=look`,
  ]);
  expect(shown({ action: 'replay', target_type: 'step', target: 'look', run_id: id })).toEqual([
    'step look',
    `/ui/replays/${id}`,
  ]);
  expect(shown({ target_type: 'delivery', target: '7' })).toEqual(['delivery 7', '/ui/deliveries/7']);
  expect(shown({ target_type: 'notification', target: id })).toEqual(['notification …8753a542', null]);
});

test('every action that is stored can be chosen, in words', () => {
  const row = { ...ROW, prior_yaml: null, action: 'withdraw_mark', target_type: 'golden_set', target: 'cases' };
  const { rows, selects } = view(row, { query: { action: 'withdraw_mark' } });
  expect(rows[0]).toMatchObject({ action: 'Withdraw mark', what: 'golden set cases' });
  expect(selects[0]?.options).toContainEqual({ value: 'withdraw_mark', label: 'withdraw mark', selected: true });
  expect(selects[0]?.options.map(({ value }) => value)).toEqual(
    expect.arrayContaining(['acknowledge', 'redeliver', 'replay', 'pin', 'resend']),
  );
});

test('what was refused or failed looks like it', () => {
  const tone = (outcome: string) => view({ ...ROW, outcome }).rows[0]?.look.tone;
  expect(['updated', 'managed', 'reloaded_with_errors', 'failed'].map(tone)).toEqual(['quiet', 'wait', 'wait', 'bad']);
});

test('filters that make no sense are left out', () => {
  expect(
    readFilters({ since: 'yesterday', until: '2026-11-21', role: ' admin ', page: '-1', other: 'x', actor: ['a'] }),
  ).toEqual({
    until: '2026-11-21',
    role: 'admin',
    page: 1,
  });
});

test('lines far from a change are folded, and two large texts that share nothing take no second', () => {
  const text = Array.from({ length: 40 }, (_, n) => `line ${n}\n`);
  const diff = diffLines(text.join(''), text.with(20, 'other\n').join(''));
  expect(diff?.map(({ sign }) => sign).join('')).toBe('…   -+   ');
  const large = (word: string) => Array.from({ length: 9000 }, (_, n) => `${word} ${n * 7}`).join('\n');
  expect(diffLines(large('a'), large('b'))).toBeNull();
});
