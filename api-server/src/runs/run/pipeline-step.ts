import type { SubContext } from '@signalbox/crds';
import { failure, type Failure } from '../state/executor.ts';
import { noteMissing, refuseBlanks } from '../prompt/blanks.ts';
import { oneAtATime } from '../prompt/one-at-a-time.ts';
import { renderJson, templateFailure, textRoom } from '../prompt/rendering.ts';
import { runValues } from '../prompt/run-values.ts';
import { contextChars } from '../state/held.ts';
import { holdSlot } from '../state/shared-slot.ts';
import { noFacts, type Performed, plainAnswer, type StepKind } from '../state/step-kind.ts';
import type { AnyStep, StepContext } from '../state/step-context.ts';
import type { ChildOutcome, RenderedContext, SubRuns } from './sub-run.ts';
import { ownerOf, type Templates } from '../prompt/templates.ts';

export interface PipelineStepDeps {
  runChild: SubRuns['run'];
  templates: Templates;
  now(): number;
}

type AnyPipelineStep = Extract<AnyStep, { executor: 'pipeline' }>;

/** A step that runs another pipeline and takes its last trust. */
export function pipelineStep(deps: PipelineStepDeps): StepKind {
  return {
    prepare: async (ctx) => {
      const step = ctx.step as AnyPipelineStep;
      const rendered = await renderContext(deps, ctx, step);
      const context = (rendered.ok && refuseBlanks(ctx)) || rendered;
      // A sub-run that is stored has its context, and may have asked people.
      if (!context.ok && !ctx.run.inFlight.has(ctx.name)) return context;
      return {
        ok: true,
        agent: null,
        model: null,
        promptHash: null,
        raw: null,
        asks: ctx.run.inFlight.has(ctx.name),
        stores: contextChars(ctx.run.context) + JSON.stringify(context).length,
        perform: async ({ signal }) => {
          const request = {
            parent: ctx.run,
            slot: ctx.slot,
            stepName: ctx.name,
            pipeline: step.pipeline,
            context,
            signal,
          };
          const child = await deps.runChild(request);
          if ('refused' in child) return failure(child.refused.type, child.refused.message);
          const performed = toPerformed(child);
          // It may have been stopped while it waited without the slot.
          if (performed.ok || !performed.ends) await holdSlot(ctx.slot, signal);
          return performed;
        },
      };
    },
  };
}

/** `${ENV}` has no meaning in a context: it stays as written. */
const NO_ENV = { verbatim: true, valueOf: () => undefined, mask: (text: string) => text };

async function renderContext(
  deps: PipelineStepDeps,
  { run, name, locals }: StepContext,
  step: AnyPipelineStep,
): Promise<RenderedContext> {
  const rendering = () => ({
    templates: deps.templates,
    env: NO_ENV,
    values: runValues(run, deps.now(), locals),
    owner: ownerOf(run),
    room: textRoom(),
    field: 'context',
    missing: noteMissing('the context', { run, name }),
  });
  const rendered = await oneAtATime(run, () => renderJson(step.context ?? {}, rendering()));
  if (!rendered.ok) return rendered;
  const value = rendered.value as SubContext;
  return refuseTeam(value) ?? { ok: true, value };
}

/** As of the team of a schedule: lists and metrics have it of every run. */
const MAX_TEAM = 64;

function refuseTeam({ team }: SubContext): Failure | null {
  if (team === undefined || (team.length > 0 && team.length <= MAX_TEAM)) return null;
  const msg = `a team has 1 to ${MAX_TEAM} characters, and this one has ${team.length}`;
  return templateFailure({ msg }, 'context.team');
}

function toPerformed({ runId, status, trust, message, outputs }: ChildOutcome): Performed {
  const facts = noFacts({ childRunId: runId });
  const failed = { ...failure('sub_run', `run ${runId} ${status}: ${message ?? ''}`), facts };
  switch (status) {
    case 'completed':
    case 'stopped':
      return {
        ok: true,
        answer: plainAnswer({
          confidence: trust,
          summary: `run ${runId} ${status}`,
          output: { run_id: runId, status, steps: outputs },
        }),
        facts,
      };
    case 'escalated':
    case 'aborted':
      return { ...failed, ends: status };
    default:
      return failed;
  }
}
