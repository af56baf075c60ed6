import { expect, test } from 'vitest';
import { cutFields, fitFields, fitTogether } from './field-sizes.ts';
import type { TriggerContext } from './model.ts';

const CONTEXT: TriggerContext = {
  source: 'alert_router',
  pipeline: null,
  severity: 'critical',
  labels: { service: 'checkout' },
  annotations: { summary: 'slow' },
  summary: 'slow',
  fingerprint: 'f:firing',
  metadata: { status: 'firing', annotations: { summary: 'slow' } },
  raw: { alerts: [] },
  receivedAt: 0,
};

test('what fits stays the same object', () => {
  expect(fitFields(CONTEXT)).toBe(CONTEXT);
  expect(cutFields(CONTEXT)).toEqual([]);
});

test('longer fields are cut to their bytes, say so, and are named', () => {
  const fitted = fitFields({
    ...CONTEXT,
    summary: 'x'.repeat(660_000),
    labels: { service: 'checkout', dump: 'é'.repeat(4000) },
    annotations: { runbook: '😀'.repeat(2000) },
    metadata: { common_labels: { dump: 'y'.repeat(5000) }, external_url: 'z'.repeat(5000), alert_count: 3 },
  });
  expect(fitted.summary).toMatch(/^x{8000,8192}… \[cut from 660000 bytes\]$/);
  expect(fitted.labels['service']).toBe('checkout');
  expect(fitted.labels['dump']).toMatch(/^é+… \[cut from 8000 bytes\]$/);
  expect(fitted.annotations['runbook']).toMatch(/^(😀)+… \[cut from 8000 bytes\]$/u);
  expect(JSON.stringify(fitted.metadata).length).toBeLessThan(9000);
  const sizes = [fitted.summary, ...Object.values({ ...fitted.labels, ...fitted.annotations })];
  expect(sizes.map((text) => Buffer.byteLength(text ?? ''))).toSatisfy((all: number[]) => all.every((n) => n <= 8192));
  expect(cutFields(fitted)).toEqual(['summary', 'labels.dump', 'annotations.runbook']);
});

test("a generic sender's own data stays as it is", () => {
  const metadata = { log: 'x'.repeat(100_000), annotations: 'none' };
  expect(fitFields({ ...CONTEXT, source: 'generic', metadata }).metadata).toBe(metadata);
});

test('what the alerts of one delivery have in common is cut once', () => {
  const common = { dump: 'x'.repeat(5000) };
  const contexts = ['a', 'b'].map((host): TriggerContext => {
    const annotations = { ...common, host };
    return { ...CONTEXT, annotations, metadata: { common_annotations: common, annotations } };
  });
  const [first, second] = contexts.map(fitTogether());
  expect(first?.metadata['common_annotations']).toEqual({
    dump: expect.stringMatching(/^x+… \[cut from 5000 bytes\]$/),
  });
  expect(second?.metadata['common_annotations']).toBe(first?.metadata['common_annotations']);
  expect(first?.metadata['annotations']).toBe(first?.annotations);
  expect(second?.annotations['host']).toBe('b');
});
