import type { Family } from './exposition.ts';

/** Runs of a team that nobody has acknowledged; `since` when in milliseconds the oldest of them ended. */
export interface OpenAttention {
  team: string | null;
  runs: number;
  since: number;
}

/** Runs that wait for people: how many nobody has acknowledged, and for how long the oldest of them. */
export function attentionFamilies(open: readonly OpenAttention[], now: number): Family[] {
  const teams = open.length === 0 ? [{ team: null, runs: 0, since: now }] : open;
  const samples = (valueOf: (team: OpenAttention) => number): Family['samples'] =>
    teams.map((one) => ({ labels: [['team', one.team ?? '']], value: valueOf(one) }));
  return [
    {
      name: 'service_attention_open',
      help: 'Production runs that ended without a result and that nobody has acknowledged',
      type: 'gauge',
      samples: samples(({ runs }) => runs),
    },
    {
      name: 'service_attention_age_seconds',
      help: 'Age of the oldest of them',
      type: 'gauge',
      samples: samples(({ since }) => Math.max(0, now - since) / 1000),
    },
  ];
}
