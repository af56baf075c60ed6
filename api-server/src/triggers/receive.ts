import type { Snapshot } from '../definitions/snapshot.ts';
import type { TriggerContext } from '../runs/model.ts';
import type { RunRequest } from '../runs/new-run.ts';
import type { Delivery, Preview, Receipt, Verdict } from './model.ts';
import { resolve } from './resolve.ts';
import { sources, type Parsed } from './sources/index.ts';

export interface ReceiveDeps {
  definitions(): Snapshot;
  /** False while the service drains. */
  accepting(): boolean;
  intake(requests: Omit<RunRequest, 'dedupKey'>[]): Promise<Verdict[]>;
  /** What `intake` would find, without storing anything. */
  peekDuplicate(request: Omit<RunRequest, 'dedupKey'>): Promise<string | null>;
  hasRoom(): boolean;
  now(): number;
}

type Decision = { go: true; request: Omit<RunRequest, 'dedupKey'> } | { go: false; verdict: Verdict };

/** Everything between an authenticated, parsed delivery and its answer (Design 4). */
export async function receive(deps: ReceiveDeps, delivery: Delivery): Promise<Receipt> {
  if (!deps.accepting()) return verdict({ status: 'unavailable', message: 'the service is shutting down; try again' });
  const parsed = parse(deps, delivery);
  if (!parsed.ok) return { kind: 'invalid', message: parsed.message, errors: parsed.errors };
  const { contexts } = parsed;
  const unknown = delivery.forcedPipeline && !deps.definitions().byName.has(delivery.forcedPipeline);
  if (unknown) return { kind: 'unknown_pipeline', message: `no pipeline is named "${delivery.forcedPipeline}"` };
  const decisions = contexts.map((context) => decide(deps.definitions(), context, delivery));
  if (delivery.dryRun) return { kind: 'previews', previews: await previewAll(deps, contexts, decisions) };
  const admitted = await deps.intake(decisions.flatMap((decision) => (decision.go ? [decision.request] : [])));
  const verdicts = decisions.map((decision) => (decision.go ? (admitted.shift() as Verdict) : decision.verdict));
  const [first] = verdicts;
  return delivery.strategy === 'per_alert' || !first ? { kind: 'verdicts', verdicts } : verdict(first);
}

const verdict = (one: Verdict): Receipt => ({ kind: 'verdict', verdict: one });

function parse(deps: ReceiveDeps, { source, body, strategy, forcedPipeline }: Delivery): Parsed {
  const parser = source === null ? undefined : sources.get(source);
  if (!parser) {
    const known = [...sources.keys()].join(', ');
    const msg =
      source === null ? `name the source, one of ${known}` : `unknown source "${source.slice(0, 64)}"; one of ${known}`;
    return { ok: false, message: msg, errors: [{ loc: ['query', 'source'], msg }] };
  }
  const forced = forcedPipeline === undefined || !isObject(body) ? body : { ...body, pipeline: forcedPipeline };
  return parser.parse(forced, { strategy, receivedAt: deps.now() });
}

/** The rules that need no database, in the order in which they speak: known, suspended, stage. */
function decide(snapshot: Snapshot, context: TriggerContext, delivery: Delivery): Decision {
  const resolution = resolve(snapshot, context, delivery.team);
  if (!resolution.ok) return { go: false, verdict: { status: 'no_pipeline', message: resolution.message } };
  const { pipeline } = resolution;
  if (pipeline.config.suspend) {
    const reason = 'the pipeline is suspended; resume it to accept triggers';
    return { go: false, verdict: { status: 'suspended', pipeline: pipeline.name, reason } };
  }
  if (pipeline.config.stage === 'testing' && !delivery.allowTesting) {
    const reason = 'the pipeline is in stage testing; add allow_testing=true to run it';
    return { go: false, verdict: { status: 'skipped_testing', pipeline: pipeline.name, reason } };
  }
  return { go: true, request: { pipeline, context, team: delivery.team } };
}

function previewAll(deps: ReceiveDeps, contexts: TriggerContext[], decisions: Decision[]): Promise<Preview[]> {
  return Promise.all(
    decisions.map(async (decision, index): Promise<Preview> => {
      const { raw: _, ...context } = contexts[index] as TriggerContext;
      const pipeline = decision.go ? decision.request.pipeline : null;
      const runId = decision.go ? await deps.peekDuplicate(decision.request) : null;
      const would = decision.go ? expected(deps, runId) : decision.verdict.status;
      return {
        status: 'dry_run',
        pipeline: pipeline?.name ?? context.pipeline,
        stage: pipeline?.config.stage ?? null,
        fingerprint: context.fingerprint,
        would,
        dedup: { duplicate: runId !== null, runId },
        context,
      };
    }),
  );
}

const expected = (deps: ReceiveDeps, duplicate: string | null): Verdict['status'] => {
  if (duplicate !== null) return 'deduplicated';
  return deps.hasRoom() ? 'accepted' : 'at_capacity';
};

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
