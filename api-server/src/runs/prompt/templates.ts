import {
  type CompiledTemplate,
  compileExpression,
  compileTemplate,
  type Concurrency,
  type ComputeLimit,
  computeLimit,
  type Evaluated,
  LIMITS,
  type Rendered,
} from '@signalbox/crds';
import { type Compute, INLINE, isLargeTemplate, type Owner, sizeOfValues } from '@signalbox/crds/process/compute';
import { LRUCache } from 'lru-cache';
import type { ActiveRun } from '../state/active-run.ts';
import { createFairTurns } from './fair-turns.ts';
import { readsOf, readValues } from './read-values.ts';

/** Memory of what is kept compiled, in bytes, as its source tells; sources are definitions only, never what an alert or an agent said. */
const KEPT = { templates: 20 * 1024 * 1024, expressions: 10 * 1024 * 1024, reads: 2 * 1024 * 1024 };
/** What a character of its source takes, measured, and of a template each tag besides. */
const TEMPLATE_CHAR = 20;
const TEMPLATE_TAG = 1024;
const EXPRESSION_CHAR = 200;
const READS_CHAR = 50;
/** Beside its source. */
const ENTRY = 512;

/** Work in place after which others have a turn of the event loop. */
const TURN_MS = 5;

type Values = Readonly<Record<string, unknown>>;

/**
 * Templates and expressions of definitions, each compiled once. What takes little work is computed in place, the rest in a thread that
 * ends when it takes too long. The pipelines that need a thread take turns.
 */
export interface Templates {
  render(source: string, values: Values, owner: Owner): Promise<Rendered | ComputeLimit>;
  /** Limited to the allow-list, whatever the service allows: where values must be distinguished from the author's text. */
  renderStrict(source: string, values: Values, owner: Owner): Promise<Rendered | ComputeLimit>;
  /** In place or not at all; without the sandbox nothing counts the work. */
  renderNow(source: string, values: Values): Rendered | ComputeLimit;
  /** The same for what is decided within a transaction: the key is compiled once as long as its definition is loaded. */
  renderKey(keyed: Keyed, values: Values, maxVisits: number): Rendered | ComputeLimit;
  /** Before the transaction, where it may render the keys of many pipelines. */
  compileKey(keyed: Keyed, owner: Owner): Promise<void>;
  evaluate(source: string, values: Values, owner: Owner): Promise<Evaluated | ComputeLimit>;
  /** Why a template cannot be compiled; null where it can. It is not kept: nobody may ever render it. */
  problemOf(source: string): string | null;
  /** Whether two evaluations of this run took too long, so that it may not go on. */
  isBarred(run: string): boolean;
  /** For what reads the values of a run: of many that go on in one turn of the event loop a few do so in it. */
  turn(run: Owning): Promise<void>;
}

/** The `concurrency` of a pipeline. */
type Keyed = Pick<Concurrency, 'key'>;

interface TemplatesOptions {
  sandbox: boolean;
  compute: Pick<Compute, 'inThread' | 'isBarred'>;
}

type Owning = Pick<ActiveRun, 'id' | 'pipeline' | 'namespace'>;

/** Of the namespace that is stored with the run: its pipeline may be gone meanwhile. */
export const ownerOf = ({ id, pipeline, namespace }: Owning): Owner => ({
  run: id,
  share: pipeline.name,
  ...(namespace !== null && { group: namespace }),
});

const tooHeavy = computeLimit('it takes too much work');

export function createTemplates({ sandbox, compute }: TemplatesOptions): Templates {
  const template = keptTemplates(sandbox);
  const strict = sandbox ? template : keptTemplates(true);
  const expression = remembered(compileExpression, KEPT.expressions, ({ length }) => EXPRESSION_CHAR * length);
  const keys = new WeakMap<Keyed, InPlace>();
  const key = (keyed: Keyed): InPlace => {
    const compiled = keys.get(keyed) ?? compileInPlace(keyed.key ?? '', sandbox);
    keys.set(keyed, compiled);
    return compiled;
  };
  const reads = remembered(readsOf, KEPT.reads, ({ length }) => READS_CHAR * length);

  const inPlace = (
    compiled: InPlace,
    values: Values,
    maxVisits: number = INLINE.templateVisits,
  ): Rendered | ComputeLimit => {
    if (compiled === tooHeavy) return tooHeavy;
    if (!compiled.ok) return { ok: false, reason: 'failed', msg: compiled.msg };
    const rendered = compiled.template.render(values, maxVisits);
    return !rendered.ok && rendered.reason === 'too_many_iterations' ? tooHeavy : rendered;
  };
  const turn = createFairTurns();
  let spentMs = 0;
  /** A definition has thousands of texts, and many runs may go on at once: all that is computed before anything else is awaited. */
  const withTurns = async <T>(owner: Owner, work: () => T): Promise<T> => {
    if (spentMs > TURN_MS) {
      await turn(owner);
      spentMs = 0;
    }
    const began = performance.now();
    const done = work();
    spentMs += performance.now() - began;
    return done;
  };
  const renderWith = async (
    compile: typeof template,
    { source, values, owner }: { source: string; values: Values; owner: Owner },
  ) => {
    const rendered = await withTurns(owner, () => {
      const compiled = compile(source);
      return compiled.ok && !compiled.template.counted ? tooHeavy : inPlace(compiled, values);
    });
    if (rendered !== tooHeavy) return rendered;
    if ((await withTurns(owner, () => sizeOfValues(values))) === 'huge') return tooLarge();
    return compute.inThread({ kind: 'template', source, sandbox: compile === strict || sandbox, values }, owner);
  };

  return {
    render: (source, values, owner) => renderWith(template, { source, values, owner }),
    renderStrict: (source, values, owner) => renderWith(strict, { source, values, owner }),
    renderNow: (source, values) => inPlace(template(source), values),
    renderKey: (keyed, values, maxVisits) => inPlace(key(keyed), values, maxVisits),
    compileKey: async (keyed, owner) => {
      if (!keys.has(keyed)) await withTurns(owner, () => key(keyed));
    },
    evaluate: async (source, all, owner) => {
      const { values, size } = await withTurns(owner, () => {
        const named = readValues(all, reads(source));
        return { values: named, size: sizeOfValues(named) };
      });
      if (size === 'huge') return tooLarge();
      if (size === 'small' && source.length <= INLINE.sourceChars) {
        const evaluated = await withTurns(owner, (): Evaluated => {
          const compiled = expression(source);
          if (!compiled.ok) return { ok: false, reason: 'type', msg: compiled.msg };
          return compiled.expression.evaluate(values, INLINE.expressionSteps);
        });
        if (evaluated.ok || evaluated.reason !== 'limit') return evaluated;
      }
      return compute.inThread({ kind: 'expression', source, values }, owner);
    },
    problemOf: (source) => {
      const compiled = compileTemplate(source, { sandbox });
      return compiled.ok ? null : compiled.msg;
    },
    isBarred: compute.isBarred,
    turn: (run) => turn(ownerOf(run)),
  };
}

const tooLarge = () => computeLimit('the values of the run are too large');

function remembered<T extends object>(
  compile: (source: string) => T,
  maxSize: number,
  sizeOf: (source: string, compiled: T) => number,
): (source: string) => T {
  const sizeCalculation = (compiled: T, source: string) => ENTRY + sizeOf(source, compiled);
  const known = new LRUCache<string, T>({ maxSize, sizeCalculation, memoMethod: compile });
  return (source) => known.memo(source);
}

type InPlace = CompiledTemplate | typeof tooHeavy;

/** One that is too long is refused at once. */
const compileInPlace = (source: string, sandbox: boolean): InPlace =>
  source.length <= LIMITS.templateChars && isLargeTemplate(source) ? tooHeavy : compileTemplate(source, { sandbox });

/** Templates that are compiled in place. */
function keptTemplates(sandbox: boolean) {
  return remembered((source) => compileInPlace(source, sandbox), KEPT.templates, sizeOfTemplate);
}

/** Each has room: what looks like a tag in a comment or a string is none. */
function sizeOfTemplate(source: string, compiled: InPlace): number {
  if (!compiled.ok) return source.length;
  const tags = Math.min(source.split('{{').length - 1, INLINE.templateTokens);
  return TEMPLATE_CHAR * source.length + TEMPLATE_TAG * tags;
}
