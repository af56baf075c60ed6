import { globCovers } from './glob-covers.ts';
import { foldName } from './fold-name.ts';
import { globMatches } from './glob.ts';
import type { PolicyRuleView } from './policy.ts';

const NAMES_ALL = /^\*+$/;

/** Rules without an effect, of a server that is not configured or of calls that other rules decide, and rules that allow more than they seem to. */
export function lintPolicy(rules: readonly PolicyRuleView[], servers: readonly string[]): string[] {
  return rules.flatMap((rule) => {
    const problem = unknownServer(rule, servers) ?? unreachable(rule, { servers, rules }) ?? notWhole(rule);
    return problem === null ? [] : [`tool_policy.rules[${rule.index}]: ${problem}`];
  });
}

function unknownServer(rule: PolicyRuleView, servers: readonly string[]): string | null {
  if (rule.server === null || NAMES_ALL.test(rule.server) || serversOf(rule, servers).length > 0) return null;
  const known = servers.length === 0 ? 'none is configured' : `configured: ${servers.join(', ')}`;
  return `"${rule.server}" matches no tool server, so the rule has no effect; ${known}`;
}

const serversOf = (rule: PolicyRuleView, servers: readonly string[]) =>
  servers.filter((server) => matchesServer(rule, server));

const matchesServer = ({ server: glob, action }: PolicyRuleView, server: string): boolean =>
  glob === null || globMatches(glob, server) || (action !== 'allow' && globMatches(foldName(glob), foldName(server)));

/** Each of its servers has an earlier rule for at least the same calls. */
function unreachable(
  rule: PolicyRuleView,
  { servers, rules }: { servers: readonly string[]; rules: readonly PolicyRuleView[] },
): string | null {
  const earlier = rules.slice(0, rule.index);
  const deciding = serversOf(rule, servers).map(
    (server) => earlier.find((one) => matchesServer(one, server) && coversCalls(one, rule))?.index,
  );
  const indexes = [...new Set(deciding)];
  if (indexes.length === 0 || indexes.includes(undefined)) return null;
  return `no call reaches it, because ${indexes.length > 1 ? 'rules' : 'rule'} ${indexes.join(', ')} before it decide${indexes.length > 1 ? '' : 's'}`;
}

/** An agent writes what the expression looks for into a key beside the one that the tool reads. */
function notWhole({ action, input_regex: pattern }: PolicyRuleView): string | null {
  if (action !== 'allow' || pattern === null || /^\^.*\$$/s.test(pattern)) return null;
  return 'its input_regex may match anywhere in the input, also in a key that the tool does not read; begin it with ^ and end it with $';
}

const coversCalls = (outer: PolicyRuleView, inner: PolicyRuleView): boolean =>
  (outer.input_regex === null || outer.input_regex === inner.input_regex) &&
  (['tool', 'agent'] as const).every((key) => outer[key] === null || globCovers(outer[key], inner[key] ?? '*'));
