import { expect, test } from 'vitest';
import { pendingApproval, type Approval } from '../../runs/human/approval.ts';
import { ANYBODY } from './anybody.fixture.ts';
import { type ApproverRules, personsOf, refusalOf, tightened } from './approvers.ts';

const RULES: ApproverRules = {
  approvers: new Map([
    ['default', [['ada', 'slack:U1'], ['bea']]],
    ['payments', [['cleo'], ['telegram:7']]],
  ]),
  required: 2,
  notTheStarter: true,
};
const PENDING = pendingApproval(
  { run: { id: 'r', team: null, stage: 'production', pipeline: { name: 'p' } }, name: 's' } as never,
  { id: 'a', kind: 'step', question: 'Sure?', fields: [], tool: null, requestedAt: 0, expiresAt: 1 },
);
const approval = (more: Partial<Approval> = {}): Approval => ({ ...PENDING, ...more });
const voted = (by: string) => ({ votes: [{ by, at: 0, comment: null, answers: {} }] });

test.each<[string, Partial<Approval>, string, 'approve' | 'reject', string | null, string | null]>([
  ['an approver', {}, 'ada', 'approve', null, null],
  ['an approver by another name', {}, 'slack:U1', 'approve', null, null],
  ['somebody else', {}, 'dan', 'approve', null, 'dan is not an approver of team default'],
  ['somebody else who rejects', {}, 'dan', 'reject', null, 'dan is not an approver of team default'],
  ['an approver of another team', { team: 'payments' }, 'ada', 'approve', null, 'not an approver of team payments'],
  ['an approver of the team', { team: 'payments' }, 'telegram:7', 'approve', null, null],
  ['a team without a list', { team: 'shop' }, 'bea', 'approve', null, null],
  ['the starter', { notTheStarter: true }, 'ada', 'approve', 'ada', 'ada started the run'],
  ['the starter in a chat', { notTheStarter: true }, 'slack:U1', 'approve', 'ada', 'slack:U1 started the run'],
  ['the starter who rejects', { notTheStarter: true }, 'ada', 'reject', 'ada', null],
  ['the starter where that is allowed', {}, 'ada', 'approve', 'ada', null],
  ['another than the starter', { notTheStarter: true }, 'bea', 'approve', 'ada', null],
  ['the same person again', voted('ada'), 'ada', 'approve', null, 'ada approved already'],
  ['the same person in a chat', voted('ada'), 'slack:U1', 'approve', null, 'slack:U1 approved already'],
  ['the second person', voted('ada'), 'bea', 'approve', null, null],
  ['the same person who thinks again', voted('ada'), 'ada', 'reject', null, null],
])('%s', (_, more, name, decision, starter, refusal) => {
  const said = refusalOf(RULES, { approval: approval(more), decision, by: { name }, starter });
  if (refusal === null) expect(said).toBeNull();
  else expect(said).toContain(refusal);
});

test.each([
  ['in the list of another team', ['ada', 'bea'], [['slack:U1', 'ada'], ['bea']]],
  ['by a third name', ['bea', ['ada', 'mail']], [['slack:U1', 'mail'], ['bea']]],
] as const)('two names are one person where that is said %s', (_, others, payments) => {
  const rules: ApproverRules = {
    approvers: new Map([
      ['default', others.map((one) => [one].flat())],
      ['payments', [...payments, ['ada']]],
    ]),
    required: 2,
    notTheStarter: true,
  };
  const by = { name: 'slack:U1' };
  const again = approval({ team: 'payments', votes: voted('ada').votes });
  expect(refusalOf(rules, { approval: again, decision: 'approve', by, starter: null })).toContain('approved already');
  const started = approval({ team: 'payments', notTheStarter: true });
  expect(refusalOf(rules, { approval: started, decision: 'approve', by, starter: 'ada' })).toContain('started the run');
});

test('without a list everybody may decide', () => {
  expect(personsOf(ANYBODY, 'payments')).toBeNull();
  expect(refusalOf(ANYBODY, { approval: approval(), decision: 'approve', by: { name: 'x' }, starter: 'x' })).toBeNull();
});

test('a step may ask for more than the operator, never for less', () => {
  expect(tightened(approval(), RULES)).toMatchObject({ required: 2, notTheStarter: true });
  expect(tightened(approval({ required: 2, notTheStarter: true }), ANYBODY)).toMatchObject({
    required: 2,
    notTheStarter: true,
  });
});
