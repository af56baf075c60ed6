import { isParallel, type Pipeline } from '@signalbox/crds';
import { stringify } from 'yaml';
import { type Place, placesIn } from './place.ts';
import type { ApplyTo } from './with-readiness.ts';

export interface Snippet {
  /** A key of its own, at the margin. */
  yaml: string;
  /** As it goes into the file at the first place that the hint names. */
  indented: string;
  hint: string;
}

/** What the text of a pipeline is: its file, or what was made of a custom resource. */
export interface SnippetTarget {
  text: string;
  /** For people: the name of a file. */
  file: string;
  /** The text was written by the controller, so the change belongs into the object. */
  managed: boolean;
}

/** Criteria as text, and where it goes so that they are in force. `written` has no defaults. */
export function snippetOf(pipeline: Pipeline, written: object, applyTo: ApplyTo, target: SnippetTarget): Snippet {
  const yaml = stringify({ readiness: written });
  const places = placesOf(pipeline, applyTo);
  const [first] = places;
  if (target.managed) return managedSnippet(yaml, pipeline.name, places);
  const placeOf = placesIn(target.text);
  const put = places.map((place) => ({ ...place, at: placeOf(place.loc) }));
  const at = put[0]?.at ?? null;
  return {
    yaml,
    indented: at === null ? indent(yaml, (first?.depth ?? 0) * 4) : fit(yaml, written, at),
    hint: put.map(({ what, at: place }) => hintOf(target.file, what, place)).join(' '),
  };
}

interface Where {
  /** For people. */
  what: string;
  loc: (string | number)[];
  /** 0 for the pipeline, 1 for an entry, 2 for a branch. */
  depth: number;
}

function placesOf({ name, steps }: Pipeline, applyTo: ApplyTo): Where[] {
  if (applyTo === null) return [{ what: `pipeline "${name}"`, loc: [], depth: 0 }];
  const all = steps.flatMap((step, index): (Where & { name: string })[] => {
    const entry = { name: step.name, what: `step "${step.name}"`, loc: ['steps', index], depth: 1 };
    if (!isParallel(step)) return [entry];
    const branches = step.parallel.steps.map((branch, at) => ({
      name: branch.name,
      what: `branch "${branch.name}"`,
      loc: ['steps', index, 'parallel', 'steps', at],
      depth: 2,
    }));
    return [entry, ...branches];
  });
  const named = new Set(applyTo);
  return all.filter(({ name }) => named.has(name));
}

function fit(yaml: string, written: object, { style, indent: columns, replaces }: Place): string {
  if (style === 'block') return indent(yaml, columns);
  const flow = stringify({ readiness: written }, { collectionStyle: 'flow', lineWidth: 0 }).trim();
  // Without the braces of the map that it goes into.
  const bare = flow.slice(1, -1).trim();
  return replaces === null ? `${bare}, ` : bare;
}

const indent = (yaml: string, columns: number): string => yaml.replace(/^(?=.)/gm, ' '.repeat(columns));

function hintOf(file: string, what: string, place: Place | null): string {
  if (place === null) return `In ${file}, beside the other keys of ${what}, in place of a readiness that is there.`;
  const { style, line, replaces } = place;
  if (style === 'flow')
    return replaces === null
      ? `In ${file}, ${what}: right after the opening brace on line ${line}.`
      : `In ${file}, ${what}: in place of "readiness: {…}" in the braces on line ${line}.`;
  if (replaces === null) return `In ${file}, ${what}: below line ${line}.`;
  const { from, to } = replaces;
  return `In ${file}, ${what}: in place of ${from === to ? `line ${from}` : `lines ${from} to ${to}`}.`;
}

/** Columns of keys in a manifest as `kubectl` and `GET /pipelines/{name}?format=cr` print it. */
const COLUMNS = [2, 6, 12];

function managedSnippet(yaml: string, name: string, places: readonly Where[]): Snippet {
  const columns = COLUMNS[places[0]?.depth ?? 0] ?? 2;
  const where = places.map(({ what, depth }) => (depth === 0 ? 'directly under spec' : `under spec.steps, in ${what}`));
  return {
    yaml,
    indented: indent(yaml, columns),
    hint: `In the Pipeline object that "${name}" comes from, or its manifest in Git: ${where.join('; ')}, in place of a readiness that is there.`,
  };
}
