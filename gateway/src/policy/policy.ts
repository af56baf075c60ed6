import { compileRegex } from '@signalbox/crds';
import type { Compute } from '@signalbox/crds/process/compute';
import { MAX_NAME_CHARS } from '../tools/tool.ts';
import { foldName } from './fold-name.ts';
import { compileGlob } from './glob.ts';

/** The call as it would be dispatched: the server and tool names of the offer, not the model's text. */
export interface PolicyCall {
  server: string;
  tool: string;
  agent: string;
  /** The arguments as JSON text. */
  input: string;
  /** With whose calls its expressions take turns; with the agent's where it is absent. */
  share?: string;
}

type Names = Pick<PolicyCall, 'server' | 'tool' | 'agent'>;

export type PolicyAction = 'allow' | 'deny' | 'require_approval';
export interface PolicyDecision {
  action: PolicyAction;
  /** Index of the rule that decided; null for the default. */
  rule: number | null;
  reason: string | null;
}
export type DecidePolicy = (call: PolicyCall) => Promise<PolicyDecision>;

interface RuleTarget {
  server?: string;
  tool?: string;
  agent?: string;
  input_regex?: string;
}
interface Rule {
  allow?: RuleTarget | undefined;
  deny?: RuleTarget | undefined;
  require_approval?: RuleTarget | undefined;
  reason?: string | undefined;
}
export interface PolicyDefinition {
  default: 'allow' | 'deny';
  rules: readonly Rule[];
}

/** One rule as data, the form of `GET /tool-policy`. */
export interface PolicyRuleView {
  index: number;
  action: PolicyAction;
  server: string | null;
  tool: string | null;
  agent: string | null;
  input_regex: string | null;
  reason: string | null;
}

export const MAX_TESTED_INPUT_CHARS = 256 * 1024;

const TOO_LONG: PolicyDecision = {
  action: 'deny',
  rule: null,
  reason: `a name is longer than ${MAX_NAME_CHARS} characters`,
};

type Match = 'yes' | 'no' | 'untestable';
interface CompiledRule {
  view: PolicyRuleView;
  match: (call: PolicyCall, folded: Names) => Match | Promise<Match>;
}

export type PolicyResult = { ok: true; decide: DecidePolicy; rules: PolicyRuleView[] } | { ok: false; message: string };

/**
 * Compiles the operator's rules: first match wins, else the default.
 * `deny` and `require_approval` also match a name that differs in case, width or surrounding space; `allow` matches exactly.
 */
export function compilePolicy(definition: PolicyDefinition, matches: Compute['matches']): PolicyResult {
  const compiled: CompiledRule[] = [];
  for (const [index, rule] of definition.rules.entries()) {
    const result = compileRule(index, rule, matches);
    if (!result.ok) return result;
    compiled.push(result.rule);
  }
  const fallback: PolicyDecision = {
    action: definition.default,
    rule: null,
    reason: definition.default === 'deny' ? 'no rule of the tool policy allows it' : null,
  };
  return {
    ok: true,
    rules: compiled.map(({ view }) => view),
    decide: async (call) => (isLong(call) ? TOO_LONG : ((await firstMatch(compiled, call)) ?? fallback)),
  };
}

/** Other forms of a name are longer, and take time that grows with it. */
const isLong = ({ server, tool, agent }: Names): boolean =>
  Math.max(server.length, tool.length, agent.length) > MAX_NAME_CHARS;

async function firstMatch(rules: readonly CompiledRule[], call: PolicyCall): Promise<PolicyDecision | null> {
  const { server, tool, agent } = call;
  const folded = { server: foldName(server), tool: foldName(tool), agent: foldName(agent) };
  for (const { view, match } of rules) {
    const matched = await match(call, folded);
    if (matched === 'yes') return { action: view.action, rule: view.index, reason: view.reason };
    if (matched === 'untestable' && view.action !== 'allow') {
      return {
        action: 'deny',
        rule: view.index,
        reason: `the input takes too long to be tested: ${view.reason ?? 'rule needs approval'}`,
      };
    }
  }
  return null;
}

function compileRule(
  index: number,
  rule: Rule,
  matches: Compute['matches'],
): { ok: true; rule: CompiledRule } | { ok: false; message: string } {
  const action = actionOf(rule);
  const target = rule[action] ?? {};
  const regex = target.input_regex === undefined ? null : compileRegex(target.input_regex);
  if (regex && !regex.ok)
    return { ok: false, message: `tool_policy.rules.${index}.${action}.input_regex: ${regex.msg}` };
  const names = nameMatcher(target, action !== 'allow');
  const nothing = { server: null, tool: null, agent: null, input_regex: null };
  const view: PolicyRuleView = { index, action, ...nothing, ...target, reason: rule.reason ?? null };
  const { input_regex: pattern } = target;
  const match = (call: PolicyCall, folded: Names): Match | Promise<Match> => {
    if (!names(call, folded)) return 'no';
    if (pattern === undefined) return 'yes';
    if (call.input.length > MAX_TESTED_INPUT_CHARS) return 'untestable';
    const found = matches(pattern, call.input, call.share ?? call.agent);
    return typeof found === 'boolean' ? matchOf(found) : found.then(matchOf);
  };
  return { ok: true, rule: { view, match } };
}

const matchOf = (found: boolean | null): Match => (found === null ? 'untestable' : found ? 'yes' : 'no');

function actionOf(rule: Rule): PolicyAction {
  if (rule.allow) return 'allow';
  return rule.deny ? 'deny' : 'require_approval';
}

function nameMatcher(target: RuleTarget, alsoFolded: boolean): (call: Names, folded: Names) => boolean {
  const wanted = (['server', 'tool', 'agent'] as const).flatMap((key) => {
    const glob = target[key];
    return glob === undefined ? [] : [{ key, matches: compileGlob(glob), foldedMatches: compileGlob(foldName(glob)) }];
  });
  return (call, folded) =>
    wanted.every(({ key, matches, foldedMatches }) => matches(call[key]) || (alsoFolded && foldedMatches(folded[key])));
}
