import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type Handlebars from 'handlebars';
import { handlebars } from './handlebars.ts';
import { icon } from './icons.ts';

/** Turns a template and a view model into HTML; every value is escaped. */
export type Render = (template: string, model: object) => string;

/**
 * Loads the templates of a folder; names that begin with `_` are partials. Helpers are few on purpose: what a page
 * decides, it decides in its view model.
 */
export function createRender(dir: string): Render {
  const engine = handlebars.create();
  engine.registerHelper('icon', (name: unknown) => new handlebars.SafeString(icon(name)));
  const templates = new Map<string, Handlebars.TemplateDelegate>();
  for (const file of readdirSync(dir)) {
    const name = basename(file, '.hbs');
    const source = readFileSync(join(dir, file), 'utf8');
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
