import { mutantsOf } from './mutant.ts';

const AUTH_DIR = 'api-server/src/web/auth';

export const APPROVALS = [
  ...mutantsOf(
    'approvals',
    'gateway/src/runs/run.ts',
    'gateway/src/rpc/approval-right.test.ts',
    [
      'an approval of another input is taken',
      'if (!decision.approved || decision.input_sha256 === shown.input_sha256) return decision;',
      'return decision;',
    ],
    [
      'any connection may answer',
      "approves === 'all' || (approves === 'own' && isStarter)",
      'approves !== undefined || isStarter',
    ],
    [
      'a connection without the right is waited for',
      "return approves === 'all' ? null :",
      'return approves !== undefined ? null :',
    ],
    [
      'every connection follows and cancels every run',
      'return !this.isReserved || hasAllRights(watcher);',
      'return watcher !== null;',
    ],
    [
      'the keys of the api-server can be taken first',
      "hasAllRights(watcher) ? 'all' : 'own'",
      "hasAllRights(watcher) ? 'all' : 'all'",
    ],
  ),
  ...mutantsOf('approvals', 'gateway/src/rpc/rpc-server.ts', 'gateway/src/rpc/rpc.test.ts', [
    'the reload token opens /rpc',
    "if (!grants(who.token, 'invoke')) {",
    "if (!grants(who.token, 'invoke') && who.token === 'approve') {",
  ]),
  ...mutantsOf(
    'approvals',
    'gateway/src/identity/authenticate.ts',
    'gateway/src/rpc/approval-right.test.ts',
    ['the invoke token approves beside an approve token', "tokens.approve === null ? 'own' : 'none'", "'own'"],
    ['every token approves', "found === 'approve' ? 'all' : others", "'all'"],
  ),
  ...mutantsOf(
    'approvals',
    'gateway/src/runs/tool-door.ts',
    'gateway/src/runs/tool-door.test.ts',
    ['a refused call is made all the same', 'if (refused !== null) return deny(fields, refused, context, deps);', ''],
    [
      'the agent’s own require_approval is ignored',
      "decision.action === 'require_approval' || offered.needsApproval",
      "decision.action === 'require_approval'",
    ],
    [
      'a denied call is made',
      "if (decision.action === 'deny') return deny(fields, decision.reason ?? 'denied by the tool policy', context, deps);",
      '',
    ],
  ),
  ...mutantsOf(
    'approvals',
    'api-server/src/runs/human/human-step.ts',
    'api-server/src/runs/human/human-step.test.ts',
    ['a rejection lets the run go on', "ends: 'aborted',", ''],
    [
      'a restart gives a question more time',
      'expiresAt: startedAt + seconds * 1000,',
      'expiresAt: Date.now() + seconds * 1000,',
    ],
    ['a run that waits keeps its slot', 'slot.giveBack();', ''],
  ),
  ...mutantsOf(
    'approvals',
    'api-server/src/runs/human/fields.ts',
    'api-server/src/runs/human/human-step.test.ts',
    ['a required field may be left out', "required && decision === 'approve' ? 'is required' : null", 'null'],
    [
      'fields that nobody asked for are taken',
      'const strangers = Object.keys(given).filter((name) => !known.has(name));',
      'const strangers = Object.keys(given).filter(() => false && known);',
    ],
  ),
  ...mutantsOf(
    'approvals',
    'api-server/src/service/approvals/approvers.ts',
    'api-server/src/runs/human/approvers.test.ts',
    [
      'the approval of who is no approver any more counts',
      'strangerTo(rules, approval.team, by) === null',
      "by !== ''",
    ],
  ),
  ...mutantsOf(
    'approvals',
    'api-server/src/store/tables/approvals.ts',
    'api-server/src/runs/human/human-step.test.ts',
    [
      'a second decision replaces the first',
      "'answers']))\n    .where('id', '=', slot.id)\n    .where('status', '=', 'pending')",
      "'answers']))\n    .where('id', '=', slot.id)",
    ],
  ),
];

export const AUTH = [
  ...mutantsOf(
    'auth',
    `${AUTH_DIR}/caller.ts`,
    `${AUTH_DIR}/roles.test.ts`,
    ['a viewer may do what an operator may', 'return RANK[role] >= RANK[needed];', 'return true;'],
    ['a reload token reads', "return role === needed || role === 'admin';", 'return true;'],
    [
      'a webhook token is an admin',
      "if (role === 'webhook' || needed === 'webhook') return role === needed;",
      "if (role === 'webhook') return true;",
    ],
  ),
  ...mutantsOf(
    'auth',
    `${AUTH_DIR}/session.ts`,
    `${AUTH_DIR}/session.test.ts`,
    [
      'a forged cookie opens a session',
      "if (rest.length > 0 || !sameText(signature, mac('cookie', text))) return null;",
      '',
    ],
    [
      'a session never expires',
      'if (!payload || payload.expires * 1000 <= now()) return null;',
      'if (!payload) return null;',
    ],
    [
      'a session outlives its token',
      'if (!token || !isUnchanged(payload, token)) return null;',
      'if (!token) return null;',
    ],
  ),
  ...mutantsOf(
    'auth',
    `${AUTH_DIR}/page-auth.ts`,
    `${AUTH_DIR}/session.test.ts`,
    ['a form of another site is taken', 'if (!sameOrigin(request)) return false;', ''],
    [
      'a form needs no CSRF token',
      'return session !== null && sameText(postedToken(request), session.csrf);',
      'return session !== null;',
    ],
    [
      'a copy of a cookie is good after the logout',
      'if (session && !(await endedSessions.has(session.id))) known.set(request, session);',
      'if (session) known.set(request, session);',
    ],
    ['a webhook token sees pages', "if (!known || !permits(known.role, 'viewer')) {", 'if (!known) {'],
  ),
  ...mutantsOf(
    'auth',
    'gateway/src/identity/authenticate.ts',
    'gateway/src/http/app.test.ts',
    [
      'the invoke token changes agents',
      "return token === 'admin' || needed === (token === 'reload' ? 'reload' : 'invoke');",
      "return token !== 'reload' || needed === 'reload';",
    ],
    [
      'the reload token runs agents',
      "needed === (token === 'reload' ? 'reload' : 'invoke')",
      "token === 'reload' || needed === 'invoke'",
    ],
  ),
];

export const EGRESS = [
  ...mutantsOf(
    'egress',
    'api-server/src/executors/egress.ts',
    'api-server/src/executors/egress.test.ts',
    ['private networks may be called', 'address.range() !== PUBLIC ||', ''],
    ['the metadata of Azure may be called', ' || address.toString() === AZURE_WIRE_SERVER', ''],
    ['IPv4-compatible addresses may be called', "  '::/96',\n", ''],
    [
      'one allowed range allows every address',
      'base.kind() === address.kind() && address.match(base, bits)',
      'base.kind() === address.kind()',
    ],
    [
      'a name that leads to a private address is dialled',
      'found.filter(({ address }) => rule.allowsAddress(address))',
      'found',
    ],
  ),
  ...mutantsOf('egress', 'api-server/src/executors/http.ts', 'api-server/src/executors/egress.test.ts', [
    'a private address in the URL is dialled',
    "if (literal && !rule.allowsAddress(host)) return failure('egress_refused', refusal(host));",
    '',
  ]),
];

export const POLICY = [
  ...mutantsOf(
    'policy',
    'gateway/src/policy/policy.ts',
    'gateway/src/policy/policy.test.ts',
    [
      'another spelling of a denied name is allowed',
      "nameMatcher(target, action !== 'allow')",
      'nameMatcher(target, false)',
    ],
    [
      'another spelling of an allowed name is allowed',
      "nameMatcher(target, action !== 'allow')",
      'nameMatcher(target, true)',
    ],
    [
      'an input that is too long passes a deny rule',
      "if (matched === 'untestable' && view.action !== 'allow') {",
      "if (matched === 'untestable' && view.action === 'allow') {",
    ],
    ['one part of a rule is enough', 'wanted.every((', 'wanted.some(('],
    ['the default is allow', 'action: definition.default,', "action: 'allow',"],
  ),
];
