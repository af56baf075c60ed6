import { READINESS_DEFAULTS } from '@signalbox/crds';

export type Tier = 'operational' | 'confidence' | 'accuracy' | 'calibration';

interface Knob {
  key: string;
  label: string;
  /** A whole number, a share from 0 to 1, or words with commas between them. */
  kind: 'count' | 'share' | 'words';
}

/** The tiers and their settings with their labels, in display order. */
export const TIERS: readonly { tier: Tier; title: string; question: string; knobs: readonly Knob[] }[] = [
  {
    tier: 'operational',
    title: 'Operational',
    question: 'Does it run?',
    knobs: [
      { key: 'min_runs', label: 'Runs needed', kind: 'count' },
      { key: 'min_success_rate', label: 'Share without failure', kind: 'share' },
      { key: 'max_age_days', label: 'Of the last days', kind: 'count' },
      { key: 'acceptable_statuses', label: 'Statuses that are fine', kind: 'words' },
    ],
  },
  {
    tier: 'confidence',
    title: 'Confidence',
    question: 'Is it sure?',
    knobs: [
      { key: 'min_runs', label: 'Answers needed', kind: 'count' },
      { key: 'min_pass_rate', label: 'Share that passes the gate', kind: 'share' },
    ],
  },
  {
    tier: 'accuracy',
    title: 'Accuracy',
    question: 'Is it right?',
    knobs: [
      { key: 'min_marked', label: 'Marked results needed', kind: 'count' },
      { key: 'min_human_marked', label: 'Of them marked by a person', kind: 'count' },
      { key: 'min_accuracy', label: 'Share that is right', kind: 'share' },
    ],
  },
  {
    tier: 'calibration',
    title: 'Calibration',
    question: 'Does it know when it is right?',
    knobs: [
      { key: 'n_min', label: 'Marked results a bin', kind: 'count' },
      { key: 'max_gap', label: 'Too sure by at most', kind: 'share' },
      { key: 'min_coverage', label: 'Share of answers measured', kind: 'share' },
    ],
  },
];

const DEFAULTS: Readonly<Partial<Record<Tier, Readonly<Record<string, unknown>>>>> = READINESS_DEFAULTS;

/** The default of a setting; '' where it has none or comes from the configuration of the service. */
export const fallbackOf = (tier: Tier, key: string): string => String(DEFAULTS[tier]?.[key] ?? '');
