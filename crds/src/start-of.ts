/** The first characters of a text, as a copy: what is cut from a text keeps all of it in memory. */
export const startOf = (text: string, most: number): string => Buffer.from(text.slice(0, most)).toString();

/** The text, or its start with a mark where it is longer. */
export const cutShort = (text: string, most: number): string => (text.length > most ? `${startOf(text, most)}…` : text);
