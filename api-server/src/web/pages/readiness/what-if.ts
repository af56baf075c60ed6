import type { Pipeline } from '@signalbox/crds';
import type { ReadinessStep } from '../../../service/views/readiness.ts';
import { fallbackOf, TIERS } from './knobs.ts';

/** Criteria that somebody tries out, as the form sends them in the address. */
export interface WhatIf {
  readiness: Record<string, Record<string, unknown>>;
  applyTo: string | null;
}

const MAX_CHARS = 40;
const textOf = (value: unknown): string => (typeof value === 'string' ? value.trim().slice(0, MAX_CHARS) : '');

/** Null where nothing is tried. A tier counts when it is ticked, with the knobs that are filled in. */
export function readWhatIf(query: Record<string, unknown>): WhatIf | null {
  if (query['whatif'] === undefined) return null;
  const readiness: WhatIf['readiness'] = {};
  for (const { tier, knobs } of TIERS) {
    if (query[tier] === undefined) continue;
    const filled = knobs.flatMap(({ key }): [string, unknown][] => {
      const text = textOf(query[`${tier}.${key}`]);
      return text === '' ? [] : [[key, numberOf(text)]];
    });
    readiness[tier] = Object.fromEntries(filled);
  }
  const step = query['apply_to'];
  return { readiness, applyTo: typeof step === 'string' && step !== '' ? step.slice(0, 160) : null };
}

/** What is no number stays as it is, so that the contract can say what is wrong with it. */
const numberOf = (text: string): unknown => (/^\d*\.?\d+$/.test(text) ? Number(text) : text);

/** Ticked for a pipeline that asks nothing yet: what every pipeline can be asked. */
const TO_BEGIN_WITH: ReadonlySet<string> = new Set(['operational', 'accuracy']);

/** The form: with what is tried, or with what the pipeline asks for now. */
export function whatIfForm(config: Pick<Pipeline, 'readiness'>, steps: readonly ReadinessStep[], tried: WhatIf | null) {
  const values: Partial<Record<string, object>> = tried?.readiness ?? config.readiness ?? {};
  const asksNothing = tried === null && Object.keys(values).length === 0;
  return {
    open: tried !== null,
    tiers: TIERS.map(({ tier, title, question, knobs }) => ({
      tier,
      title,
      question,
      asked: asksNothing ? TO_BEGIN_WITH.has(tier) : values[tier] !== undefined,
      knobs: knobs.map(({ key, label, kind }) => ({
        name: `${tier}.${key}`,
        label,
        mode: kind === 'count' ? 'numeric' : 'decimal',
        fallback: fallbackOf(tier, key) || 'as set',
        value: shown(
          (values[tier] as Record<string, unknown> | undefined)?.[key],
          tried === null ? fallbackOf(tier, key) : '',
        ),
      })),
    })),
    places: [
      { value: '', label: 'the whole pipeline', chosen: tried?.applyTo === null },
      ...steps.map(({ step_name: name }) => ({ value: name, label: `step ${name}`, chosen: tried?.applyTo === name })),
    ],
  };
}

/** What is the default anyway stays empty, so that the text to paste is short. */
const shown = (value: unknown, fallback: string): string => {
  const text = typeof value === 'number' || typeof value === 'string' ? String(value) : '';
  return text === fallback ? '' : text;
};
