import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type Handlebars from 'handlebars';
import { handlebars } from './handlebars.ts';
import { icon } from './icons.ts';

/** Turns a template and a view model into HTML; every value is escaped. */
export type Render = (template: string, model: object) => string;

/**
 * Loads every template under a folder: a template lies beside the route that sends it, and its file's name is its name.
 * Names that begin with `_` are partials. Helpers are few on purpose: what a page decides, it decides in its view model.
 */
export function createRender(dir: string): Render {
  const engine = handlebars.create();
  engine.registerHelper('icon', (name: unknown) => new handlebars.SafeString(icon(name)));
  const templates = new Map<string, Handlebars.TemplateDelegate>();
  const seen = new Map<string, string>();
  for (const file of globSync('**/*.hbs', { cwd: dir })) {
    const name = basename(file, '.hbs');
    const other = seen.get(name);
    if (other !== undefined) throw new Error(`two templates are called ${name}: ${other} and ${file}`);
    seen.set(name, file);
    // Indentation is for people who read templates; pages go without it.
    const source = readFileSync(join(dir, file), 'utf8').replaceAll(/^[ \t]+/gm, '');
    if (name.startsWith('_')) engine.registerPartial(name.slice(1), source);
    else
      templates.set(
        name,
        engine.compile(source, { preventIndent: true, knownHelpers: { icon: true }, knownHelpersOnly: true }),
      );
  }
  return (name, model) => {
    const template = templates.get(name);
    if (template === undefined) throw new Error(`no template ${name}`);
    return template(model);
  };
}
