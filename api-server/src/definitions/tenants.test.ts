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

test('a run names the receivers of the namespace that is stored with it', () => {
  const byName = new Map([
    ['p', loaded('p', 'bank', { receivers: ['slack:#bank'] })],
    ['own', loaded('own', 'ops', null)],
  ]);
  const namespaces = { shop: { receivers: ['slack:#shop'] }, bank: { receivers: ['slack:#bank'] }, free: {} };
  const { receiversOf } = createTenants(
    { open: false, library: [], namespaces },
    () => ({ byName }) as unknown as Snapshot,
  );
  const of = (pipeline: string, namespace: string | null) => receiversOf({ pipeline, namespace });
  expect(of('p', 'shop')).toEqual(['slack:#shop']);
  expect(of('own', null)).toBeNull();
  expect(of('p', 'free')).toBeNull();
  // Not listed any more.
  expect(of('p', 'gone')).toEqual([]);
  // The operator's own, whose pipeline was removed, or is a tenant's now.
  expect([of('removed', null), of('p', null)]).toEqual([null, null]);
});

test.each([
  ['others are listed', { shop: {} }],
  ['nobody is listed', {}],
])('a run of a namespace that is not listed gets nothing once its pipeline is gone, also where %s', (_, namespaces) => {
  const byName = new Map([['own', loaded('own', 'ops', null)]]);
  const tenants = createTenants({ open: false, library: [], namespaces }, () => ({ byName }) as unknown as Snapshot);
  for (const pipeline of ['gone', 'own']) {
    expect(tenants.receiversOf({ pipeline, namespace: 'mallory' })).toEqual([]);
    expect(tenants.egressAllowOf({ pipeline, namespace: 'mallory' })).toEqual([]);
    expect(tenants.mayCall({ pipeline, namespace: 'mallory' }, byName.get('own')!)).toBe(false);
  }
});

test('a namespace that is not listed, and takes the name of the operator’s pipeline, keeps no escalation of it back', () => {
  const mallory = {
    ...loaded('p', 'mallory', null),
    standing: { namespace: 'mallory', admitted: false, tenant: null },
  };
  const tenants = createTenants(
    { open: false, library: [], namespaces: { shop: {} } },
    () => ({ byName: new Map([['p', mallory]]) }) as unknown as Snapshot,
  );
  expect(tenants.receiversOf({ pipeline: 'p', namespace: null })).toBeNull();
});

test('a namespace has the bytes of its entry in a day, else a gibibyte; with open tenancy one without an entry has no limit', () => {
  const tenancy = { open: false, library: [], namespaces: { shop: { daily_bytes: 5 }, pay: {} } };
  const bytesOf = (open: boolean) => {
    const { dailyBytesOf } = createTenants({ ...tenancy, open }, () => ({}) as Snapshot);
    return ['shop', 'pay', 'other'].map((namespace) => dailyBytesOf(namespace));
  };
  expect(bytesOf(false)).toEqual([5, 2 ** 30, 2 ** 30]);
  expect(bytesOf(true)).toEqual([5, 2 ** 30, null]);
});
