import type { z } from 'zod';
import type { TriggerContext } from '../../runs/state/model.ts';

export interface ParseOptions {
  strategy: string | null;
  receivedAt: number;
}

/**
 * `share`: one run is for all contexts, the most severe of which stands first; else each context is for a run of its own.
 */
export type Parsed =
  | { ok: true; contexts: TriggerContext[]; share: boolean }
  | { ok: false; message: string; errors: { loc: (string | number)[]; msg: string }[] };

/** Turns one payload into normalised contexts, purely (Orchestration 2.4). */
export interface Source {
  readonly name: string;
  /** Whether the payload must name its pipeline, which then bypasses trigger matching. */
  readonly namesPipeline: boolean;
  /** What the API description says of its payload. */
  readonly payload: z.ZodType;
  parse(body: unknown, options: ParseOptions): Parsed;
}
