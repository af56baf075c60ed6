import type { Tenant } from '@signalbox/crds';
import { expect, test } from 'vitest';
import type { LoadedPipeline, Snapshot } from './snapshot.ts';
import { createTenants } from './tenants.ts';

const loaded = (name: string, namespace: string | null, tenant: Tenant | null) =>
  ({ name, standing: { namespace, admitted: true, tenant } }) as unknown as LoadedPipeline;

test('pipelines are listed by namespace where it has limits', () => {
  const pipelines = [
    loaded('shop-a', 'shop', {}),
    loaded('own', 'ops', null),
    loaded('shop-b', 'shop', {}),
    loaded('bank', 'bank', {}),
    loaded('file', null, null),
  ];
  const tenants = createTenants(
    { open: false, library: [], namespaces: {} },
    () => ({ pipelines }) as unknown as Snapshot,
  );
  expect([...tenants.pipelinesByNamespace()]).toEqual([
    ['shop', ['shop-a', 'shop-b']],
    ['bank', ['bank']],
  ]);
});
