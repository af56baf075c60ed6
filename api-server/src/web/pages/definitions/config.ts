/** A definition, or a part of one, whose keys are read one by one. */
export type Config = Record<string, unknown>;
export const text = (value: unknown): string =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : '';
export const list = (value: unknown): Config[] =>
  Array.isArray(value) ? value.filter((item) => typeof item === 'object' && item !== null) : [];
export const object = (value: unknown): Config =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Config) : {};
