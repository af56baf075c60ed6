import Handlebars from 'handlebars';
import { compileProgram } from './template-compile.ts';
import type { CompiledTemplate, Rendered } from './template-model.ts';
import { isTooNested, TOO_NESTED } from './template-nesting.ts';
import { pathsOfProgram } from './template-paths.ts';
import { type Output, renderProgram } from './template-render.ts';
import { renderTrusted } from './template-trusted.ts';
import type { WrittenPath } from './written-path.ts';

const MAX_SOURCE = 64 * 1024;

/**
 * Compiles a Handlebars template once. In the sandbox only text, values, `if`, `unless`, `each` and `with` exist; the
 * parsed tree is rendered by our own loop, which reads own properties only, escapes nothing and counts its work.
 * Without the sandbox Handlebars itself renders what uses more than that. Never throws.
 */
export function compileTemplate(source: string, options: { sandbox: boolean }): CompiledTemplate {
  if (source.length > MAX_SOURCE) return { ok: false, msg: `a template holds at most ${MAX_SOURCE} characters` };
  try {
    if (isTooNested(source)) return { ok: false, msg: TOO_NESTED };
    const compiled = compileProgram(Handlebars.parse(source));
    if (compiled.ok)
      return {
        ok: true,
        template: {
          source,
          counted: true,
          render: (context, maxVisits) => rendered(renderProgram(compiled.render, context, maxVisits)),
        },
      };
    if (options.sandbox) return compiled;
    return renderTrusted(source);
  } catch (error) {
    return { ok: false, msg: syntaxMessage(error), loc: syntaxPlace(error) };
  }
}

/** The paths that a template reads from the root of its context; none of one that is not sound. */
export function templatePaths(source: string): WrittenPath[] {
  if (!source.includes('{{') || source.length > MAX_SOURCE) return [];
  try {
    return isTooNested(source) ? [] : pathsOfProgram(Handlebars.parse(source));
  } catch {
    return [];
  }
}

function rendered(output: Output): Rendered {
  if (output.fault) return { ok: false, ...output.fault };
  const { text, missing, spans, largest } = output;
  return { ok: true, text, missing: [...missing], spans, largest };
}

const UNEXPECTED: Record<string, string> = {
  EOF: 'it ends inside a tag or a block',
  INVALID: 'this cannot stand inside {{…}}',
  NUMBER: 'a list index is written .[0]',
};

/** Handlebars' message is a sketch of the position; its last line has the problem. */
function syntaxMessage(error: unknown): string {
  const message = error instanceof Error ? error.message : 'cannot be parsed';
  const lines = message.split('\n');
  const last = (lines.length > 2 ? lines.at(-1) : lines[0]) ?? '';
  const got = /^Expecting .*, got '(\w+)'$/.exec(last)?.[1];
  return `invalid template: ${got === undefined ? last.slice(0, 300) : (UNEXPECTED[got] ?? `unexpected ${got}`)}`;
}

function syntaxPlace(error: unknown): { line: number; col: number } | undefined {
  const line = error instanceof Error ? /^Parse error on line (\d+)/.exec(error.message)?.[1] : undefined;
  return line === undefined ? undefined : { line: Number(line), col: 1 };
}
