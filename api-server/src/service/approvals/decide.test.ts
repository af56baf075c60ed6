import { expect, test } from 'vitest';
import { pendingApproval } from '../../runs/human/approval.ts';
import type { Counter } from '../../runs/state/records.ts';
import { ANYBODY } from './anybody.fixture.ts';
import { decide } from './decide.ts';

const ASKED = pendingApproval(
  { run: { id: 'r', team: 'invented', stage: 'production', pipeline: { name: 'p' } }, name: 's' } as never,
  { id: 'a', kind: 'step', question: 'Sure?', fields: [], tool: null, requestedAt: 0, expiresAt: 10 },
);

test.each([
  ['a team without a series of its own', () => 'other', 'other'],
  ['a team with one', undefined, 'invented'],
])('a decision counts for %s', async (_, teamLabel, label) => {
  const counted: Counter[] = [];
  await decide(
    {
      rules: ANYBODY,
      find: () => Promise.resolve(ASKED),
      starter: () => Promise.resolve(null),
      isOpen: () => true,
      record: (_decision, _audit, counters) => {
        counted.push(...counters);
        return Promise.resolve(true);
      },
      vote: () => Promise.resolve(true),
      now: () => 1,
      teamLabel,
    },
    'a',
    { verdict: { decision: 'approve', fields: {}, comment: null }, by: { name: 'ada', kind: 'token' } as never },
  );
  expect(counted).toEqual([{ metric: 'human_approval_decisions_total', labels: [label, 'p', 'approved'], value: 1 }]);
});
