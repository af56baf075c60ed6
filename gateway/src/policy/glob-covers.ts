import { globMatches } from './glob.ts';

/** Stands for any character: no glob has it as text. */
const ANY = '\uE000';

/** Whether every name that `inner` matches is matched by `outer` too. Where that is hard to tell the answer is no. */
export function globCovers(outer: string, inner: string): boolean {
  const longer = outer.length + 1;
  return [0, 1, longer].every((length) =>
    globMatches(outer, inner.replaceAll('*', ANY.repeat(length)).replaceAll('?', ANY)),
  );
}
