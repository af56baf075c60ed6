export interface Template {
  source: string;
  /** Whether `maxVisits` bounds its work: only in the sandbox. */
  counted: boolean;
  /** Pure and repeatable; values are put in as they are and never rendered again. */
  render: (context: Readonly<Record<string, unknown>>, maxVisits?: number) => Rendered;
}
/**
 * `missing`: paths that had no value (they render empty); `spans`: `[start, end)` offsets of `text` that came from values, one for those that
 * follow each other;
 * `largest`: the value that contributed the most characters. All empty without the sandbox.
 */
export type Rendered =
  | {
      ok: true;
      text: string;
      missing: string[];
      spans: [number, number][];
      largest: { path: string; chars: number } | null;
    }
  | { ok: false; reason: RenderFault; msg: string };
export type RenderFault = 'too_large' | 'too_many_iterations' | 'failed';
export type CompiledTemplate =
  | { ok: true; template: Template }
  | { ok: false; msg: string; loc?: { line: number; col: number } };
