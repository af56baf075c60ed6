import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import Handlebars from 'handlebars';

/** Turns a template and a view model into HTML; every value is escaped. A field that the model lacks is an error. */
export type Render = (template: string, model: object) => string;

/**
 * Loads every template under a folder: a template lies beside the route that sends it, and its file's name is its name.
 * Names that begin with `_` are partials. Helpers are few on purpose: what a page decides, it decides in its view model.
 */
export function createRender(dir: string): Render {
  const engine = Handlebars.create();
  engine.registerHelper('icon', (name: unknown) => {
    const id = Handlebars.escapeExpression(String(name));
    const use = `<use href="#i-${id}"/>`;
    return new Handlebars.SafeString(
      `<svg class="icon icon-${id}" width="16" height="16" aria-hidden="true">${use}</svg>`,
    );
  });
  const templates = new Map<string, Handlebars.TemplateDelegate>();
  for (const file of globSync('**/*.hbs', { cwd: dir })) {
    const name = basename(file, '.hbs');
    if (templates.has(name)) throw new Error(`two templates are called ${name}, one of them ${file}`);
    const template = lazyTemplate(engine, file, readFileSync(join(dir, file), 'utf8'));
    templates.set(name, template);
    if (name.startsWith('_')) engine.registerPartial(name.slice(1), template);
  }
  return (name, model) => {
    const template = templates.get(name);
    if (template === undefined) throw new Error(`no template ${name}`);
    return template(model);
  };
}

/**
 * Parsed when it is first shown: to parse all of them takes a tenth of the start.
 * An error names the file, the partial's too: the library says only the field and the line.
 */
function lazyTemplate(engine: typeof Handlebars, file: string, source: string): Handlebars.TemplateDelegate {
  let template: Handlebars.TemplateDelegate | undefined;
  return (model, options) => {
    try {
      template ??= compile(engine, source);
      return template(model, options);
    } catch (error) {
      throw error instanceof TemplateError ? error : new TemplateError(file, error);
    }
  };
}

function compile(engine: typeof Handlebars, source: string): Handlebars.TemplateDelegate {
  // Indentation is for people who read templates; pages go without it.
  const ast = engine.parse(source.replaceAll(/^[ \t]+/gm, ''));
  requireFields(ast);
  return engine.compile(ast, {
    strict: true,
    preventIndent: true,
    knownHelpers: { icon: true },
    knownHelpersOnly: true,
  });
}

class TemplateError extends Error {
  constructor(file: string, cause: unknown) {
    super(`template ${file}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
    this.name = 'TemplateError';
  }
}

/** The library's strict mode lets the arguments of `if`, `each`, `with` and partials pass; here they must exist, too. */
function requireFields(ast: hbs.AST.Program): void {
  const visitor = new Handlebars.Visitor();
  visitor.PathExpression = (path) => Object.assign(path, { strict: true });
  visitor.accept(ast);
}
