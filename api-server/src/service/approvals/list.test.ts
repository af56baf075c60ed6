import { expect, test, vi } from 'vitest';
import { ANYBODY } from './anybody.fixture.ts';
import { NOW, openTestStore } from '../../web/fixtures/store.ts';
import { createApprovals } from './approvals.ts';

test('approvals of a run, of which there may be thousands, are read beside the event loop', async () => {
  const store = await openTestStore();
  try {
    const { database } = store;
    const reader = vi.fn<typeof database.reader>(database.reader);
    const approvals = createApprovals({
      database: { ...database, reader },
      rules: ANYBODY,
      announce: () => [],
      now: () => NOW,
    });
    const page = { limit: 10, offset: 0 };
    expect(await approvals.list({}, page)).toEqual({ approvals: [], total: 0 });
    expect(reader).not.toHaveBeenCalled();
    expect(await approvals.list({ run: 'r1' }, page)).toEqual({ approvals: [], total: 0 });
    expect(reader).toHaveBeenCalledOnce();
  } finally {
    await store.close();
  }
});
