import { expect, test } from 'vitest';
import type { LoadedPipeline, Snapshot } from './snapshot.ts';
import { createTenants } from './tenants.ts';

const loaded = (name: string, namespace: string | null) =>
  ({ name, standing: { namespace, admitted: true, tenant: null } }) as unknown as LoadedPipeline;

test('a pipeline under a new name leaves the runs of the old one with its namespace, unless another takes the name', () => {
  let pipelines = [loaded('shop-a', 'shop'), loaded('shop-b', 'shop'), loaded('bank', 'bank'), loaded('file', null)];
  const tenants = createTenants({ open: false, namespaces: {} }, () => ({ pipelines }) as unknown as Snapshot);
  expect(tenants.pipelinesOf('shop')).toEqual(['shop-a', 'shop-b']);
  pipelines = [loaded('shop-c', 'shop'), loaded('shop-b', 'bank')];
  expect(tenants.pipelinesOf('shop')).toEqual(['shop-a', 'shop-c']);
  expect(tenants.pipelinesOf('bank')).toEqual(['bank', 'shop-b']);
});
