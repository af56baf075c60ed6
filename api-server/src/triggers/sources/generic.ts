import { DefinitionName } from '@signalbox/crds';
import { z } from 'zod';
import type { Source } from './source.ts';
import { refused } from './problems.ts';

/** The generic payload (Orchestration 2.5); keys beyond it are ignored. */
export const GenericPayload = z.object({
  pipeline: DefinitionName,
  event: z.string().max(1024).nullish(),
  source: z.string().min(1).max(256).nullish(),
  summary: z.string().max(65_536).nullish(),
  idempotency_key: z.string().max(1024).nullish(),
  data: z.looseObject({}).nullish(),
});
export type GenericPayload = z.infer<typeof GenericPayload>;

export const generic: Source = {
  name: 'generic',
  namesPipeline: true,
  payload: GenericPayload,
  parse: (body, { receivedAt }) => {
    const parsed = GenericPayload.safeParse(body);
    if (!parsed.success) return refused('generic', parsed.error);
    const { pipeline, event, source, summary, idempotency_key, data } = parsed.data;
    const context = {
      source: source ?? 'generic',
      pipeline,
      severity: null,
      labels: (event ? { event } : {}) as Record<string, string>,
      annotations: {},
      summary: summary ?? null,
      // An empty key would make every such delivery the same one.
      fingerprint: idempotency_key ? idempotency_key : null,
      metadata: data ?? {},
      raw: body,
      receivedAt,
    };
    const { fingerprint, labels } = context;
    return { ok: true, contexts: [context], alerts: [{ fingerprint, status: null, labels }], share: false };
  },
};
