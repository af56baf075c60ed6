import type { RunMetadata } from '@signalbox/crds';
import { expect, test } from 'vitest';
import type { ApprovalRight } from '../identity/authenticate.ts';
import { shareOf } from './share.ts';

const shareFor = (approves: ApprovalRight, metadata: RunMetadata, address = '10.0.0.7') =>
  shareOf({ agent: 'a', metadata }, { approves, caller: { token: 'invoke', address } });

test.each<ApprovalRight>(['all', 'own'])('who approves %s says whose runs share', (approves) => {
  expect(shareFor(approves, { namespace: 'shop', pipeline: 'p' })).toEqual({ key: 'namespace shop', isBounded: true });
  expect(shareFor(approves, { pipeline: 'p' })).toEqual({ key: 'pipeline p', isBounded: false });
  expect(shareFor(approves, {})).toEqual({ key: 'agent a', isBounded: false });
});

test('a caller without the approve token has one bounded share, whatever it says and wherever it is', () => {
  for (const metadata of [{ namespace: 'shop' }, { namespace: 'invented' }, { pipeline: 'p' }, {}])
    expect(shareFor('none', metadata)).toEqual({ key: 'caller invoke', isBounded: true });
  expect(shareFor('none', {}, '10.0.0.8')).toEqual(shareFor('none', {}));
});
