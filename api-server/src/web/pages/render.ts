import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import Handlebars from 'handlebars';
import { type Call, curlOf } from './curl.ts';

/** Turns a template and a view model into HTML; every value is escaped. A field that the model lacks is an error. */
export type Render = (template: string, model: object) => string;

/**
 * Loads every template under a folder. A template is named after its file, which is beside its route.
 * Names that begin with `_` are partials. There are few helpers: decisions belong in view models.
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
  engine.registerHelper('curlOf', (call: Call, { data }: Handlebars.HelperOptions) =>
    curlOf((data as { root: { origin: string } }).root.origin, call),
  );
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
 * Parsed when first rendered: parsing all templates would take a tenth of the start-up time.
 * Errors name the file, also of a partial; Handlebars itself gives only the field and the line.
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
  // Indentation of templates is not sent.
  const ast = engine.parse(source.replaceAll(/^[ \t]+/gm, ''));
  requireFields(ast);
  return engine.compile(ast, {
    strict: true,
    preventIndent: true,
    knownHelpers: { icon: true, curlOf: true },
    knownHelpersOnly: true,
  });
}

class TemplateError extends Error {
  constructor(file: string, cause: unknown) {
    super(`template ${file}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
    this.name = 'TemplateError';
  }
}

/** Strict mode does not check the arguments of `if`, `each`, `with` and partials; this does. */
function requireFields(ast: hbs.AST.Program): void {
  const visitor = new Handlebars.Visitor();
  visitor.PathExpression = (path) => Object.assign(path, { strict: true });
  visitor.accept(ast);
}
