import type { Snapshot } from '../../../../service/definitions/definitions.ts';
import type { Given } from '../../../../service/deliveries/deliveries.ts';
import type { DryRun } from '../../../../service/views/delivery.ts';
import { apiPath, type Call } from '../../curl.ts';
import { sentence } from '../../format.ts';
import { paths } from '../../paths.ts';
import type { StatusLook } from '../../status.ts';
import { ruleText } from '../rule-text.ts';
import type { StartForm } from './form.ts';

type Preview = Extract<DryRun, { would: string }>;

const LOOKS: Record<Preview['would'], StatusLook & { says: string }> = {
  accepted: { icon: 'completed', tone: 'good', word: 'Would start', says: 'A run would start at once.' },
  queued: { icon: 'queued', tone: 'wait', word: 'Would wait', says: 'A run would wait for a free slot.' },
  deduplicated: {
    icon: 'half',
    tone: 'quiet',
    word: 'Deduplicated',
    says: 'No run would start: another run has this already.',
  },
  suspended: { icon: 'stopped', tone: 'wait', word: 'Suspended', says: 'No run would start.' },
  skipped_testing: { icon: 'skipped', tone: 'quiet', word: 'Testing only', says: 'No run would start.' },
  no_pipeline: { icon: 'alert', tone: 'bad', word: 'No pipeline', says: 'No run would start.' },
  at_capacity: {
    icon: 'failed',
    tone: 'bad',
    word: 'At capacity',
    says: 'No run would start: every slot is taken. Try again in a moment.',
  },
  unavailable: { icon: 'failed', tone: 'bad', word: 'Unavailable', says: 'The service is shutting down.' },
};

export type From = 'delivery' | 'sample' | 'hand';

export interface StartInput {
  pipeline: Snapshot['pipelines'][number];
  form: StartForm;
  /** Which start is chosen. */
  from: From;
  /** Starts that are there. */
  starts: readonly From[];
  preview: Preview | null;
  /** Why it was refused, or what is wrong with the form. */
  problem: string | null;
  given: Given | null;
}

const LABELS: Record<From, string> = { delivery: 'Last delivery', sample: 'Sample alert', hand: 'By hand' };

/** The page that starts a pipeline by hand: the context, the dry run, then the run. */
export function startView({ pipeline, form, from, starts, preview, problem, given }: StartInput) {
  const { name, config } = pipeline;
  return {
    name,
    listPath: paths.pipelines(),
    pipelinePath: paths.pipeline(name),
    action: paths.pipelineRun(name),
    testing: config.stage !== 'production',
    suspended: config.suspend,
    from,
    starts: (starts.length > 1 ? starts : []).map((id) => ({
      label: LABELS[id],
      href: paths.pipelineRun(name, { from: id }),
      current: id === from,
    })),
    form: { ...form, rows: Math.min(24, Math.max(8, form.body.split('\n').length)) },
    problem,
    preview: preview && previewOf(preview),
    mayRun: preview?.would === 'accepted' || preview?.would === 'queued',
    command: given && commandOf(name, given),
  };
}

function previewOf(preview: Preview) {
  const { says, ...look } = LOOKS[preview.would];
  const { dedup, prompt, rules, reason } = preview;
  return {
    look,
    says: reason === null ? says : `${says} ${sentence(reason)}`,
    covering: dedup.run_id === null ? null : { href: paths.run(dedup.run_id), name: `…${dedup.run_id.slice(-8)}` },
    ...rulesOf(rules ?? null),
    prompt: prompt && {
      step: prompt.step,
      text: prompt.text,
      error: prompt.error,
      missing: prompt.missing.join(', '),
    },
  };
}

function rulesOf(rules: NonNullable<Preview['rules']> | null) {
  if (rules === null)
    return { rules: [], alone: false, noRules: 'This pipeline has no trigger.match: no alert starts it by itself.' };
  return {
    noRules: rules.length === 0 ? 'trigger.match is empty: every alert matches.' : null,
    alone: rules.some(({ holds }) => !holds),
    rules: rules.map(({ key, rule, actual, holds }) => ({
      look: holds ? MATCHES : MATCHES_NOT,
      rule: `${key} ${ruleText(rule)}`,
      actual: shownValue(actual),
    })),
  };
}

const MATCHES = { icon: 'check', tone: 'good', word: 'Matches' };
const MATCHES_NOT = { icon: 'cross', tone: 'bad', word: 'Does not match' };

function shownValue(value: unknown): string {
  if (value === null) return 'nothing';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

const commandOf = (name: string, { source, body }: Given): Call => ({
  label: 'Copy as curl',
  path: apiPath('pipelines', name, 'run') + (source === 'generic' ? '' : `?source=${source}`),
  body,
});
