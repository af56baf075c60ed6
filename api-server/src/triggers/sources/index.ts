import type { TriggerContext } from '../../runs/model.ts';
import { alertRouter } from './alert-router.ts';
import { generic } from './generic.ts';

export interface ParseOptions {
  strategy: string | null;
  receivedAt: number;
}

export type Parsed =
  | { ok: true; contexts: TriggerContext[] }
  | { ok: false; message: string; errors: { loc: (string | number)[]; msg: string }[] };

/** Turns one payload into normalised contexts, purely (Orchestration 2.4). */
export interface Source {
  readonly name: string;
  /** Whether the payload must name its pipeline, which then bypasses trigger matching. */
  readonly namesPipeline: boolean;
  parse(body: unknown, options: ParseOptions): Parsed;
}

export const sources: ReadonlyMap<string, Source> = new Map(
  [generic, alertRouter].map((source) => [source.name, source]),
);
