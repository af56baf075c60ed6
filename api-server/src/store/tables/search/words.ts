import { createHash } from 'node:crypto';
import { FACT } from '../../db/search/terms.ts';

/** Longer words and more of them are not looked up, in a text and in a question alike. */
const MAX_WORD = 64;
const MAX_WORDS = 400;
const MAX_ASKED = 16;
/** Characters of all texts of a run together, because all of them are read in one turn of the event loop. */
const MAX_TEXT = 16_000;
const MAX_PARTS = 8;

/** Between a small letter and a capital, and before the last capital of several: `CPUThrottlingHigh` has three parts. */
const PARTS = /(?<=[\p{Ll}\p{N}])(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/u;

/** Runs of letters and digits, without accents. */
function wordsIn(text: string): string[] {
  // A character may become eighteen.
  const plain = text
    .slice(0, MAX_TEXT)
    .normalize('NFKD')
    .slice(0, MAX_TEXT)
    .replace(/\p{M}+/gu, '');
  return plain.match(/[\p{L}\p{N}]+/gu) ?? [];
}

const cut = (word: string): string => word.toLowerCase().slice(0, MAX_WORD);

/** A word, and what begins at each of its parts: `CrashLooping` is found as `crash`, `looping` and `crashloop`. */
function beginnings(word: string): string[] {
  const parts = word.split(PARTS).slice(0, MAX_PARTS);
  return parts.length === 1 ? [cut(word)] : parts.map((_, at) => cut(parts.slice(at).join('')));
}

/** The words under which texts are found, each once. */
export const wordsOf = (texts: readonly string[]): string[] =>
  [...new Set(wordsIn(texts.join(' ')).flatMap(beginnings))].slice(0, MAX_WORDS);

/** The beginning of a run's id, as it is copied from a page. */
const ID = /^[0-9a-f]{8}[0-9a-f-]*$/i;
const compactId = (id: string): string => id.replaceAll('-', '').toLowerCase();

/** The words that are asked for; a run has to have all of them, or words that begin so. */
export function askedWords(text: string): string[] {
  const trimmed = text.trim();
  if (ID.test(trimmed)) return [compactId(trimmed).slice(0, MAX_WORD)];
  return [...new Set(wordsIn(trimmed).map(cut))].slice(0, MAX_ASKED);
}

/** What a person may look for in a run. */
export interface Described {
  id: string;
  pipeline_name: string;
  summary: string | null;
  labels: Readonly<Record<string, unknown>>;
}

export const wordsOfRun = ({ id, pipeline_name: pipeline, summary, labels }: Described): string[] => [
  compactId(id),
  ...wordsOf([pipeline, summary ?? '', ...Object.values(labels).map(String)]),
];

/** Whether every word that is asked for begins one of these. */
export const hasWords = (words: readonly string[], asked: readonly string[]): boolean =>
  asked.every((one) => words.some((word) => word.startsWith(one)));

/** A value that is only ever compared as a whole, as a term beside the words. */
export const factOf = (name: string, ...values: readonly string[]): string =>
  `${FACT}${createHash('sha256')
    .update(JSON.stringify([name, ...values]))
    .digest('hex')
    .slice(0, 12)}`;
