import { mutantsOf } from './mutant.ts';

const STANDING = 'crds/src/resolve/standing';

export const TENANCY = [
  ...mutantsOf(
    'tenancy',
    `${STANDING}.ts`,
    `${STANDING}.test.ts`,
    [
      'every namespace gets alerts',
      'const admitted = tenant !== null || rules.open ||',
      'const admitted = tenant === null || rules.open ||',
    ],
    [
      'a namespace that is not known counts as the release’s',
      "(namespace !== '' && namespace === rules.home)",
      'namespace === rules.home',
    ],
    [
      'a namespace with the name of an inherited property is listed',
      'Object.hasOwn(rules.namespaces, namespace) ?',
      'rules.namespaces[namespace] ?',
    ],
    [
      'agents are not restricted',
      'agentsOfPipeline(pipeline).filter(({ agent }) => !isListed(agent, allowed))',
      'agentsOfPipeline(pipeline).filter(({ agent }) => !isListed(agent, [...allowed, agent]))',
    ],
    ['an entry of agents allows what begins with it', ': agent === entry', ': agent.startsWith(entry)'],
    [
      'library steps of every namespace are used',
      'user.namespace === step.namespace ||',
      'user.namespace !== undefined ||',
    ],
    [
      'a tenant starts pipelines of others',
      'caller.namespace === called.namespace ||',
      'called.namespace !== undefined ||',
    ],
  ),
  ...mutantsOf('tenancy', 'crds/src/resolve/agent-rules.ts', `${STANDING}.test.ts`, [
    'a verifier may be any agent',
    "return [{ executor: step.executor, agent: step.agent, loc: [...loc, 'agent'] }, ...judges];",
    "return [{ executor: step.executor, agent: step.agent, loc: [...loc, 'agent'] }, ...judges.slice(9)];",
  ]),
  ...mutantsOf('tenancy', 'crds/src/resolve/check-all.ts', `${STANDING}.test.ts`, [
    'a definition keeps the rights of its former namespace',
    '    seen.namespace === source.namespace &&\n',
    '',
  ]),
  ...mutantsOf('tenancy', 'api-server/src/triggers/resolve.ts', 'api-server/src/triggers/resolve.test.ts', [
    'a pipeline of a foreign namespace catches alerts',
    'work === null || !admits(one, subject)',
    'work === null',
  ]),
  ...mutantsOf(
    'tenancy',
    'api-server/src/triggers/resolve.ts',
    'api-server/src/boot/tenancy.test.ts',
    [
      'a delivery reaches it by its name',
      'return byPerson || admits(pipeline, subject)',
      'return byPerson || pipeline.name !== undefined',
    ],
    [
      'a person cannot start it either',
      'return byPerson || admits(pipeline, subject)',
      'return admits(pipeline, subject)',
    ],
  ),
  ...mutantsOf(
    'tenancy',
    'api-server/src/service/deliveries/share.ts',
    'api-server/src/boot/tenancy.test.ts',
    [
      'a tenant gets the alerts of another out of a shared delivery',
      'admits(decision.request.pipeline, { ...one.context, team })',
      'decision.request.pipeline.name !== team',
    ],
    [
      'a severe alert of one tenant keeps those of another from a run',
      'namespace === null)',
      'namespace !== undefined)',
    ],
  ),
  ...mutantsOf('tenancy', 'api-server/src/service/deliveries/receive.ts', 'api-server/src/boot/tenancy.test.ts', [
    'runs have the team of the token',
    'team: teamOf(pipeline, delivery.team)',
    'team: delivery.team ?? teamOf(pipeline, null)',
  ]),
  ...mutantsOf(
    'tenancy',
    'api-server/src/triggers/tenant-limits.ts',
    'api-server/src/triggers/tenant-limits.test.ts',
    ['one run more than max_runs', '+ also >= maxRuns)', '+ also > maxRuns)'],
    ['runs of the same delivery are not counted', '+ also >= maxRuns)', '>= maxRuns)'],
    ['tokens of all times count', 'namespace, monthOf(now))) >= maxTokens', "namespace, '')) >= maxTokens"],
  ),
  ...mutantsOf(
    'tenancy',
    'api-server/src/store/tables/replicas/tenant-load.ts',
    'api-server/src/store/tables/replicas/tenant-load.test.ts',
    ['sub-runs count as runs', "    .where('parent_run_id', 'is', null)\n", ''],
    [
      'tokens of other namespaces count',
      'JSON.stringify([namespace, month]))\n    .executeTakeFirst();',
      "JSON.stringify(['bank', month]))\n    .executeTakeFirst();",
    ],
    ['active runs of other namespaces count', "    .where('namespace', '=', namespace)\n", ''],
  ),
  ...mutantsOf(
    'tenancy',
    'api-server/src/definitions/tenants.ts',
    'api-server/src/runs/run/tenants.test.ts',
    ['a deleted pipeline keeps the service’s private addresses', '?? orphan;', '?? UNRESTRICTED;'],
    [
      'a run starts what became another namespace’s',
      'mayCall(standingOfRun(caller), called.standing)',
      'mayCall(UNRESTRICTED, called.standing) || caller.pipeline === called.name',
    ],
    [
      'a run has the rights of who has the name of its pipeline now',
      'const { admitted, tenant } = standingOfRun(author);',
      'const { admitted, tenant } = standingNamed(author.pipeline);',
    ],
  ),
  ...mutantsOf('tenancy', 'api-server/src/executors/tenant-http.ts', 'api-server/src/runs/run/tenants.test.ts', [
    'a tenant reaches the addresses of the service',
    'if (allow === null) return own(call);',
    'if (allow !== undefined) return own(call);',
  ]),
  ...mutantsOf(
    'tenancy',
    'api-server/src/definitions/namespaces.ts',
    'api-server/src/definitions/namespaces.test.ts',
    [
      'a manifest that cannot be read lifts all rules',
      'if (files === null) return UNKNOWN;',
      'if (files === null) return NO_CONTROLLER;',
    ],
    ['a file that the manifest does not name has no rules', "?.namespace ?? '',", '?.namespace,'],
  ),
  ...mutantsOf('tenancy', 'api-server/src/schedules/fire.ts', 'api-server/src/schedules/fire.test.ts', [
    'a schedule starts what gets no alerts',
    "if (!pipeline.standing.admitted) return { started: false, reason: 'not_listed' };",
    '',
  ]),
];
