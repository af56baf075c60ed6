import type { Pipeline } from '@signalbox/crds';
import type { ReadinessStep } from '../../../service/views/analytics/readiness.ts';
import { fallbackOf, TIERS } from './knobs.ts';

/** Criteria to try, as the form sends them in the query. */
export interface WhatIf {
  readiness: Record<string, Record<string, unknown>>;
  applyTo: string | null;
}

const MAX_CHARS = 40;
const MODES = { count: 'numeric', share: 'decimal', words: 'text' } as const;
const MAX_WORDS = 80;
const textOf = (value: unknown, most: number): string => (typeof value === 'string' ? value.trim().slice(0, most) : '');

/** Null without the form. A tier is included when its box is ticked, with the settings that are filled in. */
export function readWhatIf(query: Record<string, unknown>): WhatIf | null {
  if (query['whatif'] === undefined) return null;
  const readiness: WhatIf['readiness'] = {};
  for (const { tier, knobs } of TIERS) {
    if (query[tier] === undefined) continue;
    const filled = knobs.flatMap(({ key, kind }): [string, unknown][] => {
      const text = textOf(query[`${tier}.${key}`], kind === 'words' ? MAX_WORDS : MAX_CHARS);
      if (text === '') return [];
      return [[key, kind === 'words' ? text.split(/[\s,]+/) : numberOf(text)]];
    });
    readiness[tier] = Object.fromEntries(filled);
  }
  const step = query['apply_to'];
  return { readiness, applyTo: typeof step === 'string' && step !== '' ? step.slice(0, 160) : null };
}

/** Text that is not a number is kept, so that validation reports it. */
const numberOf = (text: string): unknown => (/^\d*\.?\d+$/.test(text) ? Number(text) : text);

/** Tiers that are preselected for a pipeline without criteria: they apply to every pipeline. */
const TO_BEGIN_WITH: ReadonlySet<string> = new Set(['operational', 'accuracy']);

const MOST_PLACES = 100;

/** Steps to choose from; of a crowd no branches but the chosen one. */
const places = (steps: readonly ReadinessStep[], chosen: string | null | undefined) =>
  steps.length <= MOST_PLACES
    ? steps
    : steps.filter(({ kind, step_name: name }) => kind !== 'branch' || name === chosen).slice(0, MOST_PLACES);

/** The form, filled with the criteria that are tried or with those of the pipeline. */
export function whatIfForm(config: Pick<Pipeline, 'readiness'>, steps: readonly ReadinessStep[], tried: WhatIf | null) {
  const values: Partial<Record<string, object | null>> = tried?.readiness ?? config.readiness ?? {};
  const asksNothing = tried === null && Object.keys(values).length === 0;
  return {
    open: tried !== null,
    tiers: TIERS.map(({ tier, title, question, knobs }) => ({
      tier,
      title,
      question,
      asked: asksNothing ? TO_BEGIN_WITH.has(tier) : values[tier] != null,
      knobs: knobs.map(({ key, label, kind }) => ({
        name: `${tier}.${key}`,
        label,
        mode: MODES[kind],
        fallback: fallbackOf(tier, key) || (key === 'n_min' ? 'as set' : 'any'),
        value: shown(
          (values[tier] as Record<string, unknown> | undefined)?.[key],
          tried === null ? fallbackOf(tier, key) : '',
        ),
      })),
    })),
    places: [
      { value: '', label: 'the whole pipeline', chosen: tried?.applyTo === null },
      ...places(steps, tried?.applyTo).map(({ step_name: name }) => ({
        value: name,
        label: `step ${name}`,
        chosen: tried?.applyTo === name,
      })),
    ],
  };
}

/** Defaults stay empty, so that the generated YAML is short. */
const shown = (value: unknown, fallback: string): string => {
  const isShown = typeof value === 'number' || typeof value === 'string' || Array.isArray(value);
  const text = isShown ? String(value) : '';
  return text === fallback ? '' : text;
};
