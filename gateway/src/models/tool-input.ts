import { nestsDeeper } from '@signalbox/crds';

/** Levels of the arguments of a call. */
const MAX_DEPTH = 64;

/** The arguments of a call that are JSON text of an object; null for anything else. An empty text means no arguments. */
export function parseToolInput(text: string): Record<string, unknown> | null {
  if (text.trim() === '') return {};
  try {
    const value: unknown = JSON.parse(text);
    if (nestsDeeper(value, MAX_DEPTH)) return null;
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : null;
  } catch {
    return null;
  }
}
