import { AppError, plainIssues, Readiness } from '@signalbox/crds';
import type { Services } from '../../../service/services.ts';
import type { ReadinessPreview } from '../../../service/views/analytics/readiness.ts';
import type { WhatIf } from './what-if.ts';

/** The result of criteria that were tried, or why they are invalid. */
export type TriedReadiness =
  | { kind: 'tried'; report: ReadinessPreview }
  | { kind: 'invalid'; problems: { field: string; msg: string }[] };

/** Evaluates the criteria of the form; problems are returned by field. */
export async function tryReadiness(
  readiness: Services['readiness'],
  pipeline: string,
  { readiness: written, applyTo }: WhatIf,
): Promise<TriedReadiness> {
  const parsed = Readiness.safeParse(written);
  if (!parsed.success) {
    const problems = plainIssues(parsed.error.issues).map(({ path, msg }) => ({
      field: path.map(String).join('.'),
      msg,
    }));
    return { kind: 'invalid', problems };
  }
  const asked = { readiness: parsed.data, apply_to: applyTo === null ? null : [applyTo] };
  try {
    return { kind: 'tried', report: await readiness.preview(pipeline, asked, written) };
  } catch (error) {
    if (!(error instanceof AppError) || error.type !== 'validation') throw error;
    return { kind: 'invalid', problems: [{ field: 'apply_to', msg: `there is no step "${applyTo}"` }] };
  }
}
