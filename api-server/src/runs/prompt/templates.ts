import { compileExpression, compileTemplate, type CompiledExpression, type CompiledTemplate } from '@signalbox/crds';
import { LRUCache } from 'lru-cache';

/** Compiled texts kept; their sources are definitions only, never what an alert or an agent said. */
const MAX_KEPT = 10_000;

/** Templates and expressions of definitions, each compiled once. */
export interface Templates {
  template(source: string): CompiledTemplate;
  /** Within the allow-list whatever the service allows: where values must be told apart from the author's text. */
  strict(source: string): CompiledTemplate;
  expression(source: string): CompiledExpression;
}

export function createTemplates(options: { sandbox: boolean }): Templates {
  return {
    template: remembered((source) => compileTemplate(source, options)),
    strict: remembered((source) => compileTemplate(source, { sandbox: true })),
    expression: remembered(compileExpression),
  };
}

function remembered<T extends object>(compile: (source: string) => T): (source: string) => T {
  const known = new LRUCache<string, T>({ max: MAX_KEPT, memoMethod: compile });
  return (source) => known.memo(source);
}
