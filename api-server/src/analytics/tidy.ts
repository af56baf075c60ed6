/** Digits that a sum of amounts still means; what follows them is the rounding of binary fractions. */
const DIGITS = 12;

/** The same answer with `0.3` in place of `0.30000000000000004`, wherever a number stands in it. */
export function tidy<T>(answer: T): T {
  if (typeof answer === 'number') return tidyNumber(answer) as T;
  if (Array.isArray(answer)) return answer.map(tidy) as T;
  if (answer === null || typeof answer !== 'object') return answer;
  return Object.fromEntries(Object.entries(answer).map(([key, value]) => [key, tidy(value)])) as T;
}

/** A share such as 2/3 has no end in any number of digits and stays as it is. */
function tidyNumber(n: number): number {
  if (Number.isSafeInteger(n)) return n;
  const rounded = Number(n.toPrecision(DIGITS));
  return String(rounded).length < DIGITS ? rounded : n;
}
