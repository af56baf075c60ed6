import type { z } from 'zod';
import type { AlertNote } from '../delivery-record.ts';
import type { TriggerContext } from '../../runs/state/model.ts';

export interface ParseOptions {
  strategy: string | null;
  receivedAt: number;
}

/**
 * `share`: one run is for all contexts, the most severe of which stands first; else each context is for a run of its own.
 * `alerts` in the order of the contexts; a single context may stand for all of them.
 */
export type Parsed =
  | { ok: true; contexts: TriggerContext[]; alerts: AlertNote[]; share: boolean }
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
