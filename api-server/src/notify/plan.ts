import type { ActiveRun } from '../runs/state/active-run.ts';
import type { RunError, TerminalRunStatus } from '../runs/state/model.ts';
import { needsAttention } from '../runs/state/attention.ts';
import type { DailyBytes } from '../runs/state/daily-bytes.ts';
import { runValues } from '../runs/prompt/run-values.ts';
import type { Templates } from '../runs/prompt/templates.ts';
import { attentionButtons } from './attention-buttons.ts';
import { chooseMessages, EVENT_OF } from './choose.ts';
import { type Asked, offerApprove } from './offer-approve.ts';
import { asReminder, firstReminder } from './reminders.ts';
import { cut, defaultText, type Facts, templateText } from './compose.ts';
import type { Button, ChannelName, ConfigSource, Message, Notification, NotificationEvent } from './message.ts';

export interface PlanDeps {
  templates: Templates;
  /** Takes the operator's secrets out of text that leaves the process. */
  mask(text: string): string;
  /** Base address for links, without a slash at its end; null gives messages without one. */
  publicUrl: string | null;
  /** The route of a team's approvals; null where there is none for it and no default. */
  routeOf(team: string | null): { team: string; channel: ChannelName } | null;
  /** Counts messages, which are stored. */
  dailyBytes: DailyBytes;
  /** Whether the service hears the buttons under a message of this channel with this `config` of a definition. */
  hears(channel: ChannelName, config: Readonly<Record<string, unknown>>): boolean;
}

export interface RunEnd {
  status: TerminalRunStatus;
  error: RunError | null;
}

/** A question to people, as a human step or a tool call asks it. */
export interface ApprovalRequest {
  /** Stable over restarts: the same question is never sent twice. */
  id: string;
  step: string;
  prompt: string;
  /** Milliseconds. */
  askedAt: number;
  /** The page that takes the answer, below `server.public_url`; the run's page where absent. */
  path?: string;
  buttons: Button[];
  /** A tool and its input as they stand in the prompt; null for a step. */
  call?: string | null;
}

/** `notes` are lines for the run's log: what of a template could not be rendered. */
export interface Plan {
  notifications: Notification[];
  notes: { event: string; msg: string }[];
}

const NOTHING: Plan = { notifications: [], notes: [] };

/** What the end of a run at `at` (milliseconds) makes known, and to whom; pure (Orchestration 6). */
export function planRunEnd(deps: PlanDeps, run: ActiveRun, end: RunEnd & { at: number }): Plan {
  const event = EVENT_OF[end.status];
  if (event === null) return NOTHING;
  const told = planEnd(deps, run, { event, end, at: end.at });
  const reminders = planReminders(deps, run, end);
  return {
    notifications: [...told.notifications, ...reminders.notifications],
    notes: [...told.notes, ...reminders.notes],
  };
}

/** Whether templates of an author are rendered for it. */
export function isToldInTexts(run: ActiveRun, { status, error }: RunEnd): boolean {
  const event = EVENT_OF[status];
  if (event === null) return false;
  const messages = chooseMessages(run.pipeline, error ? error.step : lastCompleted(run), event);
  return messages.some(({ template }) => template !== undefined);
}

interface Telling {
  event: NotificationEvent;
  end: RunEnd;
  at: number;
}

function planEnd(deps: PlanDeps, run: ActiveRun, { event, end, at }: Telling): Plan {
  const step = end.error ? end.error.step : lastCompleted(run);
  const targets = definitionTargets(run, step, event);
  if (targets.length === 0) return NOTHING;
  const facts = factsOf(deps, run, { event, at, step });
  const reason = end.error ? end.error.message : passedSentence(run);
  return planMessages(deps, run, {
    idBase: event === 'remind' ? firstReminder(run.id) : `${run.id}/${event}`,
    facts: { ...facts, status: end.status, step: end.error?.step ?? null, reason },
    targets,
    at,
    buttons: needsPeople(run, end) ? attentionButtons(run.id, 'open') : [],
    onlyHeard: true,
  });
}

const needsPeople = ({ stage, parent }: ActiveRun, { status }: RunEnd): boolean =>
  needsAttention({ status, stage, isSubRun: parent !== null });

/** The first reminders of a run that needs people, through its `escalate` channels; each brings the next. */
function planReminders(deps: PlanDeps, run: ActiveRun, end: RunEnd & { at: number }): Plan {
  const seconds = run.pipeline.attention?.remind_after_seconds;
  if (seconds === undefined || !needsPeople(run, end)) return NOTHING;
  const plan = planEnd(deps, run, { event: 'remind', end, at: end.at + seconds * 1000 });
  return { ...plan, notifications: plan.notifications.map((one) => asReminder(one, seconds * 1000)) };
}

/**
 * Who is asked for an approval: what the step or the pipeline says, else the team's route, else the default route, else the
 * log (Orchestration 6).
 */
export function planApproval(deps: PlanDeps, run: ActiveRun, request: ApprovalRequest): Plan {
  const facts = factsOf(deps, run, { event: 'approval', at: request.askedAt, step: request.step });
  const written = definitionTargets(run, request.step, 'approval');
  const url = deps.publicUrl === null || request.path === undefined ? facts.url : `${deps.publicUrl}${request.path}`;
  return planMessages(deps, run, {
    idBase: `${run.id}/approval/${request.id}`,
    facts: { ...facts, url, reason: request.prompt },
    targets: written.length > 0 ? written : [routeTarget(deps, run.team)],
    at: request.askedAt,
    buttons: request.buttons,
    asked: request,
  });
}

interface Target {
  channel: ChannelName;
  template?: string | undefined;
  config?: Readonly<Record<string, unknown>> | undefined;
  source: ConfigSource;
}

const definitionTargets = (run: ActiveRun, step: string | null, event: NotificationEvent): Target[] =>
  chooseMessages(run.pipeline, step, event).map(({ channel, template, config }, index) => ({
    channel,
    template,
    config,
    source: { from: 'definition', step, index },
  }));

function routeTarget({ routeOf }: PlanDeps, team: string | null): Target {
  const route = routeOf(team);
  if (!route) return { channel: 'log', source: { from: 'operator' } };
  return { channel: route.channel, source: { from: 'route', team: route.team } };
}

interface Planning {
  idBase: string;
  facts: Facts;
  targets: readonly Target[];
  at: number;
  buttons: Button[];
  /** Leaves the buttons out where nobody hears them. */
  onlyHeard?: boolean;
  asked?: Pick<ApprovalRequest, 'prompt' | 'call'>;
}

function planMessages(
  deps: PlanDeps,
  run: ActiveRun,
  { idBase, facts: known, targets, at, buttons: offered, onlyHeard, asked }: Planning,
): Plan {
  const facts = masked(deps, known);
  const notes: Plan['notes'] = [];
  const leftOut: string[] = [];
  // Read once for all: what the steps of a run answered may be long.
  const values = valuesFor(run, facts);
  const notifications = targets.flatMap((target, index): Notification[] => {
    const testing = run.stage === 'testing';
    const buttons = isOffered(deps, target, onlyHeard) ? offered : [];
    const whole = (words: Words): Message =>
      offerApprove({ ...facts, ...words, buttons }, target.channel, wholeOf(target, asked));
    const { message, note, refused } = messageOf(deps, { run, facts, target, values, whole });
    // An escalation is never lost, and what the operator routes is not an author's list.
    if (refused !== null && index > 0 && facts.event !== 'remind') {
      leftOut.push(refused);
      return [];
    }
    if (note !== null) notes.push(note);
    return [
      {
        id: `${idBase}/${index}`,
        runId: run.id,
        pipeline: run.pipeline.name,
        stage: run.stage,
        event: facts.event,
        channel: testing ? 'log' : target.channel,
        insteadOf: testing && target.channel !== 'log' ? target.channel : null,
        source: target.source,
        message,
        createdAt: at,
      },
    ];
  });
  if (leftOut.length > 0) {
    const msg = `${leftOut.length} further messages for ${facts.event} were not sent: ${leftOut[0]}`;
    notes.push({ event: 'notification_left_out', msg });
  }
  return { notifications, notes };
}

/** What a message has to show: an author's own words may ask for a step in another way, but never leave out a tool or its input. */
function wholeOf({ template }: Target, asked: Planning['asked']): Asked | null {
  if (!asked) return null;
  if (asked.call) return { text: asked.call, isCall: true };
  return template === undefined ? { text: asked.prompt, isCall: false } : null;
}

const isOffered = ({ hears }: PlanDeps, { channel, config = {} }: Target, onlyHeard = false): boolean =>
  !onlyHeard || hears(channel, config);

type Words = Pick<Message, 'text' | 'link'>;

interface Writing {
  run: ActiveRun;
  facts: Facts;
  target: Target;
  values: Record<string, unknown>;
  whole(words: Words): Message;
}

interface Written {
  message: Message;
  note: Plan['notes'][number] | null;
  /** Why the day has no room for it. */
  refused: string | null;
}

/** In the author's words, or in ours where there are none, they cannot be rendered, or the day has no room for them. */
function messageOf(deps: PlanDeps, { run, facts, target, values, whole }: Writing): Written {
  const count = (message: Message) => deps.dailyBytes(run, Buffer.byteLength(JSON.stringify(message)))?.message ?? null;
  const about = `the ${target.channel} message for ${facts.event}`;
  let why: string | null = null;
  if (target.template !== undefined) {
    const composed = templateText(target.template, { ...deps, values });
    if (composed.ok) {
      const message = whole({ text: composed.text, link: null });
      why = count(message);
      if (why === null) return { message, note: missingNote(about, composed.missing), refused: null };
    } else why = composed.msg;
  }
  const message = whole({ text: defaultText(facts), link: facts.url });
  const msg = `${about} was sent in its default form: ${why}`;
  const note = why === null ? null : { event: 'notification_template_failed', msg };
  return { message, note, refused: count(message) };
}

function missingNote(about: string, missing: readonly string[]): Written['note'] {
  if (missing.length === 0) return null;
  const msg = `${about} names values that are not there: ${missing.slice(0, 10).join(', ')}`;
  return { event: 'template_missing_value', msg };
}

/** The run's values, with what is known at its end under `run`. */
function valuesFor(run: ActiveRun, facts: Facts): Record<string, unknown> {
  const values = runValues(run, Date.parse(facts.at));
  const { event, status, reason, step, trust, threshold, url } = facts;
  return { ...values, run: { ...(values['run'] as object), event, status, reason, step, trust, threshold, url } };
}

interface Occasion {
  event: NotificationEvent;
  at: number;
  step: string | null;
}

const factsOf = ({ publicUrl }: PlanDeps, run: ActiveRun, { event, at, step }: Occasion): Facts => ({
  event,
  at: new Date(at).toISOString(),
  pipeline: run.pipeline.name,
  runId: run.id,
  status: null,
  team: run.team,
  stage: run.stage,
  severity: run.context.severity,
  summary: run.context.summary,
  step,
  reason: null,
  trust: run.trust,
  threshold: run.threshold,
  url: publicUrl === null ? null : `${publicUrl}/ui/runs/${run.id}`,
});

/** A completed run ended with the last step that completed. */
const lastCompleted = ({ results }: ActiveRun): string | null =>
  [...results].findLast(([, { status }]) => status === 'completed')?.[0] ?? null;

const passedSentence = ({ trust, threshold }: ActiveRun): string | null =>
  trust === null || threshold === null ? null : `Trust ${trust.toFixed(2)} against ${threshold.toFixed(2)}.`;

/** What an alert or an agent said, without the operator's secrets and in bounds. */
function masked({ mask }: PlanDeps, facts: Facts): Facts {
  const said = (text: string | null) => (text === null ? null : cut(mask(text), 4_000));
  return { ...facts, summary: said(facts.summary), reason: said(facts.reason), severity: said(facts.severity) };
}
