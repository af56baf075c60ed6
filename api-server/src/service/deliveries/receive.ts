import { notLoaded } from '../../definitions/not-loaded.ts';
import type { Snapshot } from '../../definitions/snapshot.ts';
import type { TriggerContext } from '../../runs/state/model.ts';
import { teamOf } from '../../runs/state/new-run.ts';
import type { Delivery, Preview, Receipt, Verdict } from '../../triggers/model.ts';
import { createPatternTurns, type PatternTurns } from '../../triggers/pattern-turns.ts';
import { resolve, type TooLong } from '../../triggers/resolve.ts';
import { sources } from '../../triggers/sources/index.ts';
import type { Parsed } from '../../triggers/sources/source.ts';
import { admit, type AdmitDeps, type Alongside, keepInvalid } from './admit.ts';
import type { Decision } from './decision.ts';
import { type DryRunDeps, preview } from './dry-run.ts';
import { headOf } from './head.ts';
import { type Part, shareRuns, type Taken } from './share.ts';

export interface ReceiveDeps extends AdmitDeps, DryRunDeps {
  /** False while the service drains. */
  accepting(): boolean;
  /** Rules that did not match one delivery because its texts are too long for their patterns. */
  noteTooLong(found: readonly TooLong[], source: string | null): void;
}

/** Decides on an authenticated, parsed delivery. `alongside` is a further write of the transaction that stores its runs. */
export async function receive(deps: ReceiveDeps, delivery: Delivery, alongside?: Alongside): Promise<Receipt> {
  if (!deps.accepting()) return verdict({ status: 'unavailable', message: 'the service is shutting down; try again' });
  const parsed = parse(deps, delivery);
  if (!parsed.ok) {
    keepInvalid(deps, delivery, { statusCode: 400, message: parsed.message });
    return { kind: 'invalid', message: parsed.message, errors: parsed.errors };
  }
  const { contexts } = parsed;
  const { forcedPipeline: forced } = delivery;
  const { byName } = deps.definitions();
  if (forced !== undefined && !byName.has(forced)) {
    const asked = { kind: 'Pipeline', name: forced, names: byName.keys() } as const;
    return { kind: 'unknown_pipeline', message: notLoaded(deps.definitions(), asked) };
  }
  const turns = createPatternTurns();
  const all = await decideAll(deps, contexts, { ...delivery, turns });
  const parts = parsed.share
    ? shareRuns(all, delivery.team)
    : all.map(({ context, decision }): Part => ({ decision, alerts: [context] }));
  if (delivery.dryRun) return previewAll(deps, parts, { ...delivery, turns });
  const verdicts = await admit(deps, { delivery, parsed, parts }, alongside);
  const isOne = delivery.strategy !== 'per_alert' && verdicts.length > 0;
  return isOne ? verdict(headOf(verdicts)) : { kind: 'verdicts', verdicts };
}

async function decideAll(deps: ReceiveDeps, contexts: readonly TriggerContext[], delivery: InTurns): Promise<Taken[]> {
  const tooLong = new Map<string, TooLong>();
  const onTooLong = (one: TooLong) => {
    if (tooLong.size < MOST_NOTED) tooLong.set(`${one.pipeline} ${one.key}`, one);
  };
  const snapshot = deps.definitions();
  const all: Taken[] = [];
  for (const context of contexts)
    all.push({ context, decision: await decide(snapshot, context, { ...delivery, onTooLong }) });
  if (tooLong.size > 0) deps.noteTooLong([...tooLong.values()], delivery.source);
  return all;
}

const MAX_PREVIEWS = 50;
/** Characters of JSON; the first is shown whatever it takes. */
const MAX_PREVIEWED = 4 * 1024 * 1024;

/** Each looks for the closest pipelines, in a turn of its own. */
async function previewAll(deps: ReceiveDeps, parts: readonly Part[], delivery: InTurns): Promise<Receipt> {
  const previews: Preview[] = [];
  let left = MAX_PREVIEWED;
  for (const { decision, alerts } of parts.slice(0, MAX_PREVIEWS)) {
    if (previews.length > 0) await delivery.turns.rest();
    const one = await preview(deps, delivery, alerts[0], decision);
    left -= JSON.stringify(one).length;
    if (left < 0 && previews.length > 0) break;
    previews.push(one);
  }
  return { kind: 'previews', previews, leftOut: parts.length - previews.length };
}

const verdict = (one: Verdict): Receipt => ({ kind: 'verdict', verdict: one });

function parse(deps: ReceiveDeps, { source, body, strategy, forcedPipeline }: Delivery): Parsed {
  const parser = source === null ? undefined : sources.get(source);
  if (!parser) {
    const known = [...sources.keys()].join(', ');
    const msg =
      source === null
        ? `the source is missing; use one of ${known}`
        : `unknown source "${source.slice(0, 64)}"; use one of ${known}`;
    return { ok: false, message: msg, errors: [{ loc: ['query', 'source'], msg }] };
  }
  const at = { strategy, receivedAt: deps.now() };
  if (forcedPipeline === undefined) return parser.parse(body, at);
  const parsed = parser.parse(isObject(body) ? { ...body, pipeline: forcedPipeline } : body, at);
  return parsed.ok
    ? { ...parsed, contexts: parsed.contexts.map((one) => ({ ...one, pipeline: forcedPipeline })) }
    : parsed;
}

/** A line of the log names so many rules. */
const MOST_NOTED = 10;

type InTurns = Delivery & { turns: PatternTurns };
type Deciding = InTurns & { onTooLong: (found: TooLong) => void };

/** The rules that need no database, in order: known, suspended, stage. */
async function decide(snapshot: Snapshot, context: TriggerContext, delivery: Deciding): Promise<Decision> {
  const byPerson = delivery.forcedPipeline !== undefined;
  const { team, onTooLong, turns } = delivery;
  const resolution = await resolve(snapshot, context, { team, byPerson, onTooLong, turns });
  if (!resolution.ok)
    return { go: false, verdict: { status: 'no_pipeline', message: resolution.message }, request: null };
  const { pipeline } = resolution;
  const startedBy = delivery.startedBy ?? delivery.tokenName;
  const request = { pipeline, context, team: teamOf(pipeline, delivery.team), startedBy };
  if (pipeline.config.suspend) {
    const reason = 'the pipeline is suspended; resume it to accept triggers';
    return { go: false, verdict: { status: 'suspended', pipeline: pipeline.name, reason }, request };
  }
  if (pipeline.config.stage === 'testing' && !delivery.allowTesting) {
    const reason = 'the pipeline is in stage testing; add allow_testing=true to run it';
    return { go: false, verdict: { status: 'skipped_testing', pipeline: pipeline.name, reason }, request };
  }
  return { go: true, request };
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
