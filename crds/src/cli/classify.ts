import type { DefinitionKind, Loc, Problem } from '../problem.ts';
import type { Source } from '../resolve/source.ts';
import { parseYaml, type Position } from '../resolve/yaml.ts';
import { type DocumentText, splitDocuments } from './documents.ts';

export interface FoundFile {
  path: string;
  text: string;
  /** The soul.md beside an agent.yaml. */
  soul?: string;
}

/** A definition and how to find its places in the file it came from. */
export interface FoundDefinition {
  kind: DefinitionKind;
  /** `source.file` is unique in a set: the path, and the number of the document where a file holds several. */
  source: Source;
  path: string;
  place: (loc: Loc, given: Position | null) => Position | null;
}
export type Found = { definition: FoundDefinition } | { skipped: string; path: string } | { problem: Problem };

const FOLDERS: Record<string, DefinitionKind> = { pipelines: 'Pipeline', steps: 'LibraryStep' };
const API_GROUP = 'signalbox.dev/';

/** Classifies each document of a file: a definition, a Kubernetes object, or something else. */
export function classify(file: FoundFile): Found[] {
  const documents = splitDocuments(file.text);
  if (documents.length === 0) return [noMap(file, { text: file.text, line: 0 }, 'empty')];
  return documents.map((document, index) =>
    classifyDocument(file, document, documents.length > 1 ? `${file.path}#${index + 1}` : file.path),
  );
}

function classifyDocument(file: FoundFile, document: DocumentText, id: string): Found {
  const foreign = foreignKind(document.text);
  if (foreign !== null) return { skipped: `${foreign} is not a kind of Signalbox`, path: file.path };
  const parsed = parseYaml(document.text);
  if (!parsed.ok) return unreadable(file, document, parsed.problems[0]);
  const body = parsed.value;
  if (!isMap(body)) return noMap(file, document, 'no map of keys');
  const at = (loc: Loc): Position | null => below(parsed.locate(loc), document.line);
  const isObject = typeof body['apiVersion'] === 'string' && typeof body['kind'] === 'string';
  return isObject ? fromObject(body, { file, id, at }) : fromBody(body, { file, id, document });
}

type Unreadable = Pick<Problem, 'loc' | 'msg' | 'line' | 'col' | 'reason'>;

/** In a folder of definitions a file that is not a map is an error; elsewhere it may belong to another program. */
function noMap(file: FoundFile, document: DocumentText, what: string): Found {
  if (kindByFolder(file.path) === null) return { skipped: what, path: file.path };
  return unreadable(file, document, { loc: [], msg: `not a definition: ${what}`, line: 1, col: 1, reason: 'invalid' });
}

function unreadable(file: FoundFile, document: DocumentText, problem: Unreadable | undefined): Found {
  const { loc = [], msg = 'cannot be read', line = 1, col = 1, reason = 'syntax' } = problem ?? {};
  const place = { loc, line: line + document.line, col };
  return {
    problem: { severity: 'error', kind: kindByFolder(file.path), name: null, file: file.path, msg, reason, ...place },
  };
}

function fromBody(
  body: Record<string, unknown>,
  { file, id, document }: { file: FoundFile; id: string; document: DocumentText },
): Found {
  const kind = kindByFolder(file.path) ?? kindByKeys(body);
  if (!kind) return { skipped: 'not a definition: it has neither steps nor executor nor model', path: file.path };
  const source = { file: id, text: document.text, ...(kind === 'Agent' ? { soul: file.soul ?? '' } : {}) };
  return { definition: { kind, source, path: file.path, place: (_loc, given) => below(given, document.line) } };
}

/** The kind of an object of another group, read from its text: our limits do not apply to other kinds. */
function foreignKind(text: string): string | null {
  const group = /^apiVersion:[ \t]*["']?([^\s"']+)/m.exec(text)?.[1];
  if (group === undefined || group.startsWith(API_GROUP)) return null;
  return /^kind:[ \t]*["']?([^\s"']+)/m.exec(text)?.[1] ?? null;
}

interface Origin {
  file: FoundFile;
  id: string;
  at: (loc: Loc) => Position | null;
}

/** An object's `spec` is the definition's body without its name. */
function fromObject(object: Record<string, unknown>, { file, id, at }: Origin): Found {
  const kind = object['kind'] as string;
  if (!String(object['apiVersion']).startsWith(API_GROUP) || !isKind(kind))
    return { skipped: `${kind} is not a kind of Signalbox`, path: file.path };
  const spec = isMap(object['spec']) ? object['spec'] : {};
  const { soul, ...keys } = spec;
  const metadata = isMap(object['metadata']) ? object['metadata'] : {};
  const body = { name: metadata['name'], ...(kind === 'Agent' ? keys : spec) };
  const named = spec['name'] === undefined ? ['metadata', 'name'] : ['spec', 'name'];
  const source = {
    file: id,
    text: JSON.stringify(body),
    ...(kind === 'Agent' ? { soul: typeof soul === 'string' ? soul : '' } : {}),
  };
  return {
    definition: { kind, source, path: file.path, place: (loc) => at(loc[0] === 'name' ? named : ['spec', ...loc]) },
  };
}

function kindByFolder(path: string): DefinitionKind | null {
  const parts = path.split('/');
  if (parts.at(-1) === 'agent.yaml') return 'Agent';
  const folder = parts.slice(0, -1).findLast((part) => Object.hasOwn(FOLDERS, part));
  return folder === undefined ? null : (FOLDERS[folder] ?? null);
}

function kindByKeys(body: Record<string, unknown>): DefinitionKind | null {
  if ('steps' in body) return 'Pipeline';
  if ('executor' in body) return 'LibraryStep';
  return 'model' in body ? 'Agent' : null;
}

function isKind(kind: string): kind is DefinitionKind {
  return kind === 'Pipeline' || kind === 'LibraryStep' || kind === 'Agent';
}

function below(position: Position | null, lines: number): Position | null {
  return position && { line: position.line + lines, col: position.col };
}

function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
