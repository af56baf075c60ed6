import Handlebars from 'handlebars';
import type { CompiledTemplate, Rendered } from './template-model.ts';

const MAX_OUTPUT = 1024 * 1024;
const MAX_ITERATIONS = 100_000;

class TooMany extends Error {}

/**
 * Handlebars itself, for an operator who switched the sandbox off: partials, decorators, `lookup` and `log` work, unknown helpers
 * fail. Own properties only, no escaping, bounded output and bounded `each` as in the sandbox; no spans and no missing paths.
 */
export function renderTrusted(source: string): CompiledTemplate {
  const engine = Handlebars.create();
  const render = engine.compile(source, { noEscape: true });
  engine.precompile(source);
  return { ok: true, template: { source, counted: false, render: (context) => run(engine, render, context) } };
}

function run(engine: typeof Handlebars, render: Handlebars.TemplateDelegate, context: unknown): Rendered {
  try {
    const text = render(context, { helpers: { each: boundedEach(engine) } });
    if (Buffer.byteLength(text) > MAX_OUTPUT)
      return { ok: false, reason: 'too_large', msg: 'the rendered text is larger than 1 MiB' };
    return { ok: true, text, missing: [], spans: [], largest: null };
  } catch (error) {
    if (error instanceof TooMany) return { ok: false, reason: 'too_many_iterations', msg: error.message };
    return { ok: false, reason: 'failed', msg: error instanceof Error ? error.message : 'cannot be rendered' };
  }
}

/** `each` with a counter that all loops of one rendering share. */
function boundedEach(engine: typeof Handlebars): Handlebars.HelperDelegate {
  const each = engine.helpers['each'] as Handlebars.HelperDelegate;
  let left = MAX_ITERATIONS;
  return function (this: unknown, list: unknown, options: Handlebars.HelperOptions) {
    const fn: Handlebars.TemplateDelegate = (item, runtime) => {
      if (--left < 0) throw new TooMany(`the template repeats more than ${MAX_ITERATIONS} times`);
      return options.fn(item, runtime);
    };
    return each.call(this, list, { ...options, fn }) as unknown;
  };
}
