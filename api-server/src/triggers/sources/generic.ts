import { DefinitionName } from '@signalbox/crds';
import { z } from 'zod';
import { MAX_ENTRIES } from '../../runs/state/field-sizes.ts';
import type { Source } from './source.ts';
import { refused } from './problems.ts';
import { textMap } from './text-map.ts';

/** The event is one more of them. */
const Labels = textMap(MAX_ENTRIES - 1);

/**
 * The generic payload (Orchestration 2.5) and two keys that are not in the requirement, `severity` and `labels`; keys beyond it are
 * ignored, and so are these two where they are no text and no map of texts.
 */
export const GenericPayload = z.object({
  pipeline: DefinitionName,
  event: z.string().max(1024).nullish(),
  source: z.string().min(1).max(256).nullish(),
  summary: z.string().max(65_536).nullish(),
  idempotency_key: z.string().max(1024).nullish(),
  data: z.looseObject({}).nullish(),
  severity: z.string().min(1).max(256).nullish().catch(undefined),
  labels: Labels.nullish().catch(undefined),
});
export type GenericPayload = z.infer<typeof GenericPayload>;

export const generic: Source = {
  name: 'generic',
  namesPipeline: true,
  payload: GenericPayload,
  parse: (body, { receivedAt }) => {
    const parsed = GenericPayload.safeParse(body);
    if (!parsed.success) return refused('generic', parsed.error);
    const { pipeline, event, source, summary, idempotency_key, data, severity, labels: given } = parsed.data;
    const context = {
      source: source ?? 'generic',
      pipeline,
      severity: severity ?? null,
      labels: { ...given, ...(event ? { event } : {}) },
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
