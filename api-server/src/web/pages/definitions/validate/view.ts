import { parseYaml } from '@signalbox/crds';
import type { WriteKind } from '../../../../service/definitions/writes.ts';
import type { Validation, Written } from '../../../../service/views/definition-write.ts';
import { escapedLength } from '../../fit-model.ts';
import { sentence } from '../../format.ts';
import { paths } from '../../paths.ts';
import { messageOf } from '../view.ts';
import { plural } from '../../runs/row.ts';
import { yamlLines } from '../yaml/yaml-lines.ts';

export interface ValidateInput {
  kind: WriteKind;
  yaml: string;
  /** The reader's page has the text and asks for the rest alone. */
  alone: boolean;
  /** A definition that was to be edited and has more text than a page shows. */
  tooLong: string | null;
  result: Validation | null;
  saved: Written | null;
  /** Why it was not written. */
  problem: { status: number; message: string } | null;
  admin: boolean;
  /** Definitions of the kind that are loaded. */
  known: ReadonlyMap<string, unknown>;
}

const NOUNS: Record<WriteKind, string> = { Pipeline: 'Pipeline', LibraryStep: 'Library step' };

/** Characters, as HTML, of a text that stands in the form. */
const MOST_EDITED = 100_000;
export const fitsForm = (yaml: string): boolean => escapedLength(yaml) <= MOST_EDITED;

/** The page that judges a text: the text with its lines, and what is wrong at which of them. */
export function validateView({ kind, yaml, alone, tooLong, result, saved, problem, admin, known }: ValidateInput) {
  const name = nameIn(yaml);
  const draft = draftView(yaml, alone);
  const replaces = name !== null && known.has(name) ? name : null;
  return {
    admin,
    kinds: (['Pipeline', 'LibraryStep'] as const).map((value) => ({
      value,
      label: NOUNS[value],
      checked: value === kind,
    })),
    ...draft,
    rows: Math.min(40, Math.max(16, yaml.split('\n').length + 1)),
    judged: result !== null,
    ...judgedView(yaml, result, draft.dropped === null),
    tooLong,
    replaces: result?.valid && saved === null ? replaces : null,
    saved: saved && savedView(saved, kind, name ?? ''),
    problem: problem && sentence(problem.message),
  };
}

/** What stands in the form; `dropped`: the size of a text that does not. */
function draftView(yaml: string, alone: boolean) {
  if (alone) return { draft: '', dropped: null };
  if (fitsForm(yaml)) return { draft: yaml, dropped: null };
  return { draft: '', dropped: `${Math.ceil(Buffer.byteLength(yaml) / 1024)} KB` };
}

const savedView = ({ note }: Written, kind: WriteKind, name: string) => ({
  note: sentence(note),
  href: kind === 'Pipeline' ? paths.pipeline(name) : paths.step(name),
  name,
});

const NOT_JUDGED = { valid: false, lead: null, findings: [], left: 0, lines: [] };

/** Characters of the lines that are shown beside the text itself. */
const MOST_SHOWN = 60_000;
const MOST_FINDINGS = 50;

/** Only a text that stands in the form can be saved from it. */
function judgedView(yaml: string, result: Validation | null, isKept: boolean) {
  if (result === null) return NOT_JUDGED;
  const found = findingsOf(result);
  const marks = new Map(found.flatMap(({ line, look }) => (line === null ? [] : [[line, look.tone] as const])));
  const lines = yamlLines(yaml, { marks, most: MOST_SHOWN });
  const findings = found.slice(0, MOST_FINDINGS).map((one) => ({
    ...one,
    href: one.line === null || one.line > lines.length ? null : `#L${one.line}`,
  }));
  return { valid: result.valid && isKept, lead: leadOf(result), findings, left: found.length - findings.length, lines };
}

function nameIn(yaml: string): string | null {
  const parsed = parseYaml(yaml);
  const name = parsed.ok ? (parsed.value as { name?: unknown } | null)?.name : null;
  return typeof name === 'string' ? name : null;
}

function leadOf({ valid, errors, warnings }: Validation): string {
  if (!valid) return `${plural(errors.length, 'error')}. Nothing was written.`;
  return warnings.length === 0
    ? 'Valid. It would load as it is.'
    : `Valid, with ${plural(warnings.length, 'warning')}. It would load as it is.`;
}

const LOOKS = {
  errors: { icon: 'failed', tone: 'bad', word: 'Error' },
  warnings: { icon: 'alert', tone: 'wait', word: 'Warning' },
} as const;

const findingsOf = (result: Validation) =>
  (['errors', 'warnings'] as const).flatMap((list) =>
    result[list].map(({ loc, msg, line = null }) => ({
      look: LOOKS[list],
      line,
      loc: loc.join('.'),
      msg: messageOf({ loc, msg: msg.replace(/^line \d+, column \d+: /, '') }),
    })),
  );
