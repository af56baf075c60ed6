/** No name of the api-server is longer. */
const MAX_CHARS = 300;

/** A copy: a part of a text keeps all of it in memory. */
export const cutName = (name: string): string =>
  name.length <= MAX_CHARS ? name : `${Buffer.from(name.slice(0, MAX_CHARS)).toString()}…`;
