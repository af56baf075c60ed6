import { type LineCounter, parseDocument } from 'yaml';

/** Reads a text that is loaded, with what it needs to be written again. No key is there twice in it, and to look for one takes the square of their number. */
export const readLoaded = (text: string, lineCounter?: LineCounter) =>
  parseDocument(text, { uniqueKeys: false, ...(lineCounter && { lineCounter }) });
