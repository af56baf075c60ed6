import {
  agentFindings,
  atOnce,
  contentHash,
  parseYaml,
  standingOf,
  type SyncManifest,
  type TenancyRules,
  type Turns,
} from '@signalbox/crds';
import type { CustomObject } from '../objects/custom-object.ts';
import { agentAddresses } from './placement.ts';
import type { Verdict } from './plan.ts';
import type { Served } from './served.ts';

export type Owners = SyncManifest['files'];

/** Told by its digest: the texts of all files would not fit in memory. */
export interface WantedFile {
  digest: string;
  /** Mostly made at each call. */
  text(): string;
}

/** The wanted content of a directory: path below it -> file, and the owner of each. */
export interface FilePlan {
  files: ReadonlyMap<string, WantedFile>;
  manifest: SyncManifest;
}

/** Of the text of a file. */
export const digestOf = (text: string): string => contentHash(text);

export interface FilePlanInput {
  verdicts: readonly Verdict[];
  /** The namespace of the release. */
  home: string;
  tenancy: TenancyRules | undefined;
  /** The files written before, from the manifest. */
  owners: Owners;
  /** Digest of the present text of an owned file; null where it is gone. */
  digestAt(path: string): string | null;
  /** Reads the file; empty where it is gone. */
  textAt(path: string): string;
  /** Whether an object that is absent was really deleted. */
  isGone(object: Pick<CustomObject, 'kind' | 'namespace' | 'uid'>): boolean;
}

/**
 * The files of a set of verdicts. An object that has nothing to serve keeps its present files, a step
 * stays while a kept file names it, and so do the files of an object whose deletion is not certain. Pure.
 */
export const planFiles = (input: FilePlanInput): FilePlan => atOnce(planningFiles(input));

/** `planFiles` in parts, so that the event loop is not held up. */
export function* planningFiles(input: FilePlanInput): Turns<FilePlan> {
  const { verdicts, home, owners } = input;
  const files = new Map<string, WantedFile>();
  const owned = new Map<string, Owners[string]>();
  const made = createMadeTexts();
  const put = (file: PlannedFile) => {
    files.set(file.path, { digest: file.digest, text: () => made.get(file) ?? file.text() });
    owned.set(file.path, file.owner);
  };
  for (const verdict of verdicts)
    for (const file of known.get(verdict) ?? (yield* filesOf(verdict, input, made))) put(file);
  if (Object.keys(owners).some((path) => !files.has(path))) yield* keepFiles(input, { files, owned, put });
  const reports = verdicts.map(({ object }) => reportOf(object)).toSorted((a, b) => (a.key < b.key ? -1 : 1));
  const objects = reports.map(({ report }) => report);
  const agents = yield* agentAddresses(verdicts);
  return { files, manifest: { namespace: home, files: sorted(owned), objects, agents } };
}

/** Of texts that a plan makes, so many characters stay until its files are written; others are made again then. */
const MADE_CHARS = 4 * 1024 * 1024;

interface MadeTexts {
  get(file: PlannedFile): string | undefined;
  keep(file: PlannedFile, text: string): void;
}

function createMadeTexts(): MadeTexts {
  const texts = new Map<PlannedFile, string>();
  let chars = 0;
  return {
    get: (file) => texts.get(file),
    keep: (file, text) => {
      if (chars + text.length > MADE_CHARS) return;
      texts.set(file, text);
      chars += text.length;
    },
  };
}

interface PlannedFile extends WantedFile {
  path: string;
  owner: Owners[string];
}

const known = new WeakMap<Verdict, readonly PlannedFile[]>();

/** Of a digest, what the manifest says. */
const SHORT = 12;

function* filesOf(
  verdict: Verdict,
  { owners, digestAt }: FilePlanInput,
  made: MadeTexts,
): Turns<readonly PlannedFile[]> {
  const { object, served } = verdict;
  const files: PlannedFile[] = [];
  for (const [path, make] of served ? textsOf(object, served) : []) {
    const ownedAs = (digest: string) => ({
      ...ownerOf(object, served?.hash ?? ''),
      digest: `${served?.from} ${digest.slice(0, SHORT)}`,
    });
    const present = digestAt(path);
    const isCurrent = present !== null && isSameEdition(owners[path], ownedAs(present));
    if (!isCurrent) yield null;
    const text = isCurrent ? null : make();
    const digest = text === null ? (present ?? '') : digestOf(text);
    const file = { path, digest, text: make, owner: ownedAs(digest) };
    if (text !== null) made.keep(file, text);
    files.push(file);
  }
  known.set(verdict, files);
  return files;
}

interface Planned {
  files: ReadonlyMap<string, WantedFile>;
  owned: ReadonlyMap<string, Owners[string]>;
  put(file: PlannedFile): void;
}

/** Adds the files of no verdict that stay. */
function* keepFiles(
  { verdicts, tenancy, owners, digestAt, textAt, isGone }: FilePlanInput,
  { files, owned, put }: Planned,
): Turns<void> {
  const keep = (mayStay: (path: string, owner: Owners[string]) => boolean) => {
    for (const [path, owner] of Object.entries(owners)) {
      const digest = files.has(path) || !mayStay(path, owner) ? null : digestAt(path);
      if (digest !== null) put({ path, digest, text: () => textAt(path), owner });
    }
  };
  const stuck = new Set(
    verdicts.filter(({ served, lostName }) => !served && !lostName).map(({ object }) => object.uid),
  );
  const present = new Set(verdicts.map(({ object }) => object.uid));
  keep(
    (path, owner) =>
      (stuck.has(owner.uid) || !(present.has(owner.uid) || isGone(owner))) && mayHaveName(path, owner, tenancy),
  );
  // A file made from a verdict never names a missing step; the kept file of a pipeline may.
  const served = new Set(verdicts.flatMap((verdict) => (verdict.served ? [verdict.object.uid] : [])));
  const stayed = [...files].filter(
    ([path]) => path.startsWith('pipelines/') && !served.has(owned.get(path)?.uid ?? ''),
  );
  const named = new Set<string>();
  for (const [, { text }] of stayed) {
    yield null;
    for (const path of usesOf(text())) named.add(path);
  }
  keep((path, { kind }) => kind === 'LibraryStep' && named.has(path));
}

const AGENT_PATH = /^agents\/([^/]+)\//;

/** The name of an agent that stays is that of its files, whatever its object says by now. */
function mayHaveName(path: string, { namespace }: Owners[string], tenancy: TenancyRules | undefined): boolean {
  const name = AGENT_PATH.exec(path)?.[1];
  return name === undefined || agentFindings({ name, runtime: {} }, standingOf(tenancy, namespace)).length === 0;
}

/**
 * Whether a file still has the text that was written for the same edition of the object: to format it again takes longer than
 * everything else.
 */
const isSameEdition = (before: Owners[string] | undefined, now: Owners[string]): boolean =>
  before !== undefined &&
  before.uid === now.uid &&
  before.generation === now.generation &&
  before.hash === now.hash &&
  before.digest === now.digest;

/** The paths of an object's files, and what makes their texts. */
function textsOf({ kind }: CustomObject, served: Served): [string, () => string][] {
  const { name } = served;
  const text = () => served.text;
  switch (kind) {
    case 'Pipeline':
      return [[`pipelines/${name}.yaml`, text]];
    case 'LibraryStep':
      return [[`steps/${name}.yaml`, text]];
    case 'Agent':
      // The instructions first: an agent is there once its agent.yaml is.
      return [
        [`agents/${name}/soul.md`, () => served.soul ?? ''],
        [`agents/${name}/agent.yaml`, text],
      ];
    default:
      return kind satisfies never;
  }
}

interface Report {
  key: string;
  report: SyncManifest['objects'][number];
}

const reports = new WeakMap<CustomObject, Report>();

function reportOf(object: CustomObject): Report {
  const made = reports.get(object);
  if (made) return made;
  const { kind, namespace, name, status } = object;
  const { conditions, replicas } = status;
  const report = { key: `${kind} ${namespace} ${name}`, report: { kind, namespace, name, conditions, replicas } };
  reports.set(object, report);
  return report;
}

const ownerOf = ({ kind, namespace, name, uid, generation }: CustomObject, hash: string): Owners[string] => ({
  kind,
  namespace,
  name,
  uid,
  generation,
  hash,
});

/** Paths of the steps that a pipeline names with `use:`. */
function usesOf(text: string): string[] {
  const parsed = parseYaml(text);
  const found: string[] = [];
  const walk = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    for (const [key, child] of Object.entries(value)) {
      if (key === 'use' && typeof child === 'string') found.push(`steps/${child}.yaml`);
      else walk(child);
    }
  };
  if (parsed.ok) walk(parsed.value);
  return found;
}

function sorted(owners: ReadonlyMap<string, Owners[string]>): Owners {
  // Without a prototype: hundreds of keys are added to such an object in a tenth of the time.
  const files: Owners = Object.create(null) as Owners;
  for (const path of [...owners.keys()].toSorted()) files[path] = owners.get(path) as Owners[string];
  return files;
}
