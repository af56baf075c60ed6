const OPERATORS: Record<string, string> = {
  eq: '=',
  ne: '≠',
  in: 'in',
  not_in: 'not in',
  regex: '~',
  gt: '>',
  gte: '≥',
  lt: '<',
  lte: '≤',
};

/** `in shop | canary`, `~ ^Checkout`, `= critical`. */
export function ruleText(rule: unknown): string {
  if (typeof rule !== 'object' || rule === null) return `= ${String(rule)}`;
  const [[name, value] = ['', '']] = Object.entries(rule);
  return `${OPERATORS[name] ?? name} ${Array.isArray(value) ? value.join(' | ') : String(value)}`;
}
