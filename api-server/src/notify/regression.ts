import { cut, headline, templateText } from './compose.ts';
import type { ChannelName, Message, Notification, RegressionFacts, Segment } from './message.ts';
import type { PlanDeps } from './plan.ts';

/** What is to be known of a scheduled replay of a golden set, and by whom (Orchestration 4.6). */
export interface RegressionAlert {
  /** Stable: the same alert is never stored twice. */
  id: string;
  /** Milliseconds. */
  at: number;
  channel: ChannelName;
  template: string | null;
  step: string;
  runId: string | null;
  status: 'completed' | 'crashed';
  reason: string;
  facts: RegressionFacts;
}

type Deps = Pick<PlanDeps, 'templates' | 'mask'>;

/** The message of an alert. It goes to its channel whatever stage the pipeline has. */
export function planRegression({ templates, mask }: Deps, alert: RegressionAlert): Notification {
  const { id, at, channel, template, step, runId, status, facts } = alert;
  const reason = cut(mask(alert.reason), 1_000);
  const values = { ...valuesOf(facts), reason, status, step_name: step };
  const composed = template === null ? null : templateText(template, { templates, mask, values });
  const message: Message = {
    event: 'regression',
    at: new Date(at).toISOString(),
    // Its members may come from several pipelines.
    pipeline: facts.golden_set,
    runId,
    status,
    team: null,
    stage: 'production',
    severity: null,
    summary: null,
    step,
    reason,
    trust: null,
    threshold: null,
    url: facts.report_url,
    text: composed?.ok ? composed.text : defaultText(facts, { reason, step }),
    link: null,
    buttons: [],
    regression: facts,
  };
  const source = { from: 'regression', goldenSet: facts.golden_set } as const;
  return {
    id,
    runId,
    pipeline: facts.golden_set,
    stage: 'production',
    event: 'regression',
    channel,
    insteadOf: null,
    source,
    message,
    createdAt: at,
  };
}

/** A template never shows an empty place where a figure is not known. */
const valuesOf = ({ n_regressed: regressed, fresh_accuracy: fresh, ...facts }: RegressionFacts) => ({
  ...facts,
  n_regressed: regressed ?? 'unknown',
  fresh_accuracy: fresh === null ? 'unknown' : fresh.toFixed(2),
});

function defaultText(facts: RegressionFacts, { reason, step }: Pick<RegressionAlert, 'reason' | 'step'>): Segment[] {
  const { fresh_accuracy: fresh } = facts;
  const lines = [
    reason,
    fresh === null ? '' : `Fresh accuracy ${fresh.toFixed(2)}.`,
    `${facts.n_members} members of step ${step}`,
    facts.report_url,
  ];
  return [
    { kind: 'strong', text: headline({ event: 'regression', pipeline: facts.golden_set }) },
    ...lines.filter((line) => line !== '').map((line): Segment => ({ kind: 'value', text: `\n${line}` })),
  ];
}
