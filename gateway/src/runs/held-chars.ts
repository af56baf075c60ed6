import { valuesIn } from '@signalbox/crds';

/** A parsed value takes so many bytes at most, and its name as much: objects with names of their own share nothing. */
export const BYTES_OF_VALUE = 88;
export const CHARS_OF_VALUE = BYTES_OF_VALUE / 2;

/** Characters that JSON takes once it is read, and with it the JSON `within` a text of it; one is two bytes. */
export const heldChars = (json: string, within = ''): number =>
  json.length + (valuesIn(json, true) + valuesIn(within, true)) * CHARS_OF_VALUE;
