import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  MANIFEST,
  pipelineUsing,
  pipelineYaml,
  stepYaml,
  type TestFolders,
} from '../../definitions/fixtures/folders.ts';
import { type DefinitionServer, startDefinitionServer } from '../fixtures/definitions.ts';

const COMMENTED = `# who is called at night
name: checkout   # never rename
description: "Token \${CHECKOUT_TOKEN} stays as written"
steps:
  - name: look # the only one
    executor: gateway
    agent: investigator
    prompt_template: |
      What happened?
      {{summary}}
`;

function fill(disk: TestFolders): void {
  disk.write('pipelines/checkout.yaml', COMMENTED);
  disk.write('pipelines/by-hand.yml', pipelineYaml('disk_full'));
  disk.write('pipelines/uses.yaml', pipelineUsing('uses', 'inspect'));
  disk.write('steps/inspect.yaml', stepYaml('inspect'));
  disk.write('managed/pipelines/from-git.yaml', pipelineYaml('from-git'));
  disk.write('managed/manifest.json', MANIFEST);
}

let server: DefinitionServer;
beforeEach(async () => {
  server = await startDefinitionServer({ fill });
});
afterEach(() => server.close());

const audit = async (query = '') => (await server.send('GET', `/audit?${query}`, undefined, 'viewer')).body.rows;

describe('create', () => {
  test('a pipeline is live and on disk, byte for byte, when the answer comes', async () => {
    const yaml = COMMENTED.replace('checkout', 'payments');
    const { status, body } = await server.send('POST', '/pipelines', { yaml });
    expect(status).toBe(200);
    expect(Object.keys(body)).toEqual(['config', 'committed', 'note']);
    expect(body).toMatchObject({ config: { name: 'payments', stage: 'testing' }, committed: false });
    expect(body.note).toContain('commit that file to your Git repository');
    expect(server.disk.read('pipelines/payments.yaml')).toBe(yaml);
    expect((await server.send('GET', '/pipelines/payments')).body.yaml).toBe(yaml);
    await server.registry.reload();
    expect(server.registry.current().byName.has('payments')).toBe(true);
  });

  test('a name that exists is a collision until overwrite is said', async () => {
    const yaml = pipelineYaml('checkout');
    const refused = await server.send('POST', '/pipelines', { yaml });
    expect([refused.status, refused.body.detail.type]).toEqual([409, 'collision']);
    expect(server.disk.read('pipelines/checkout.yaml')).toBe(COMMENTED);
    expect((await server.send('POST', '/pipelines', { yaml, overwrite: true })).status).toBe(200);
    expect(server.disk.read('pipelines/checkout.yaml')).toBe(yaml);
    expect(await audit('action=create&target=checkout')).toMatchObject([
      { outcome: 'updated', prior_yaml: COMMENTED, actor: 'the-admin', role: 'admin', target_type: 'pipeline' },
      { outcome: 'collision', prior_yaml: null },
    ]);
  });

  test('a file of that name that holds something else is never replaced', async () => {
    server.disk.write('pipelines/other.yaml', pipelineYaml('something'));
    const answer = await server.send('POST', '/pipelines', { yaml: pipelineYaml('other'), overwrite: true });
    expect([answer.status, answer.body.detail.type]).toEqual([409, 'collision']);
  });

  test('a library step likewise', async () => {
    const { status, body } = await server.send('POST', '/steps', { yaml: stepYaml('triage') });
    expect([status, body.config.name, body.committed]).toEqual([200, 'triage', false]);
    expect(server.disk.read('steps/triage.yaml')).toBe(stepYaml('triage'));
  });
});

describe('update', () => {
  test('a definition in a file of another name stays in that file', async () => {
    const yaml = pipelineYaml('disk_full', 'description: fuller\n');
    expect((await server.send('PUT', '/pipelines/disk_full', { yaml })).body.config.description).toBe('fuller');
    expect(server.disk.read('pipelines/by-hand.yml')).toBe(yaml);
    expect(server.disk.contents()).not.toHaveProperty(['pipelines/disk_full.yaml']);
    expect((await audit())[0]).toMatchObject({ action: 'update', prior_yaml: pipelineYaml('disk_full') });
  });

  test('another name in the YAML than in the address is refused', async () => {
    const answer = await server.send('PUT', '/pipelines/checkout', { yaml: pipelineYaml('renamed') });
    expect([answer.status, answer.body.detail.type]).toEqual([400, 'validation']);
    expect(answer.body.detail.errors).toMatchObject([{ loc: ['name'] }]);
  });

  test('what is not there is not found', async () => {
    const answer = await server.send('PUT', '/pipelines/none', { yaml: pipelineYaml('none') });
    expect([answer.status, answer.body.detail.type]).toEqual([404, 'not_found']);
  });

  test('a broken file can be mended', async () => {
    server.disk.write('pipelines/checkout.yaml', 'name: checkout\nsteps: 5\n');
    await server.registry.reload();
    expect((await server.send('PUT', '/pipelines/checkout', { yaml: COMMENTED })).status).toBe(200);
    expect(server.registry.current().problems).toEqual([]);
  });

  test('a library step whose change breaks a pipeline is refused as reload_failed', async () => {
    const own = await server.send('PUT', '/steps/inspect', {
      yaml: stepYaml('inspect').replace('{{summary}}', '{{#each}}'),
    });
    expect(own.body.detail.type).toBe('validation');
    server.disk.write('pipelines/uses.yaml', `${pipelineUsing('uses', 'inspect')}    confidence_threshold: 0.7\n`);
    await server.registry.reload();
    const before = server.disk.contents();
    const yaml = 'name: inspect\nexecutor: webhook\nurl: "https://tickets.example"\n';
    expect((await server.send('POST', '/steps/validate', { yaml })).body).toMatchObject({ valid: false });
    const answer = await server.send('PUT', '/steps/inspect', { yaml });
    expect([answer.status, answer.body.detail.type]).toEqual([400, 'reload_failed']);
    expect(answer.body.detail.errors).toMatchObject([{ kind: 'Pipeline', name: 'uses' }]);
    expect(server.disk.contents()).toEqual(before);
    expect((await audit())[0]).toMatchObject({ action: 'update', target: 'inspect', outcome: 'reload_failed' });
  });
});

describe('delete', () => {
  test('answers the YAML and takes the file away', async () => {
    const { status, body } = await server.send('DELETE', '/pipelines/checkout');
    expect([status, body]).toMatchObject([200, { deleted: 'checkout', yaml: COMMENTED, committed: false }]);
    expect(Object.keys(body)).toEqual(['deleted', 'yaml', 'committed', 'note']);
    expect(server.disk.contents()).not.toHaveProperty(['pipelines/checkout.yaml']);
    expect((await server.send('GET', '/pipelines/checkout')).status).toBe(404);
    expect((await server.send('DELETE', '/pipelines/checkout')).body.detail.type).toBe('not_found');
    expect((await audit())[0]).toMatchObject({ action: 'delete', outcome: 'deleted', prior_yaml: COMMENTED });
  });

  test('a library step in use stays', async () => {
    const before = server.disk.contents();
    const answer = await server.send('DELETE', '/steps/inspect');
    expect([answer.status, answer.body.detail.type]).toEqual([400, 'reload_failed']);
    expect(server.disk.contents()).toEqual(before);
    expect((await server.send('GET', '/steps/inspect')).status).toBe(200);
  });

  test('a pipeline that another calls stays', async () => {
    const caller = pipelineYaml('caller', '', 'executor: pipeline\n    pipeline: checkout').replace(
      / {4}prompt.*\n/,
      '',
    );
    expect((await server.send('POST', '/pipelines', { yaml: caller })).status).toBe(200);
    expect((await server.send('DELETE', '/pipelines/checkout')).body.detail.type).toBe('reload_failed');
    expect((await server.send('DELETE', '/pipelines/caller')).status).toBe(200);
    expect((await server.send('DELETE', '/pipelines/checkout')).status).toBe(200);
  });
});

test('definitions that are broken already do not stand in the way of a write', async () => {
  server.disk.write('pipelines/broken.yaml', 'name: broken\nsteps: nothing\n');
  server.disk.write('steps/unreadable.yaml', '{{{');
  expect((await server.send('POST', '/pipelines', { yaml: pipelineYaml('fresh') })).status).toBe(200);
  expect((await server.send('DELETE', '/pipelines/broken')).body).toMatchObject({ deleted: 'broken' });
  expect((await server.send('DELETE', '/steps/unreadable')).body).toMatchObject({ yaml: '{{{' });
});

test('a pipeline that is served from its last good text does not lose the step that it uses', async () => {
  server.disk.write('pipelines/uses.yaml', 'name: uses\nsteps: [');
  await server.registry.reload();
  expect(server.registry.current().byName.has('uses')).toBe(true);
  expect((await server.send('DELETE', '/steps/inspect')).body.detail.type).toBe('reload_failed');
});

describe('managed names', () => {
  test.each([
    ['POST', '/pipelines', { yaml: pipelineYaml('from-git') }],
    ['POST', '/pipelines', { yaml: pipelineYaml('from-git'), overwrite: true }],
    ['PUT', '/pipelines/from-git', { yaml: pipelineYaml('from-git') }],
    ['DELETE', '/pipelines/from-git', undefined],
    ['POST', '/pipelines/from-git/suspend', undefined],
    ['POST', '/pipelines/from-git/resume', undefined],
  ] as const)('%s %s names the object', async (method, url, payload) => {
    const before = server.disk.contents();
    const answer = await server.send(method, url, payload);
    expect([answer.status, answer.body.detail.type]).toEqual([409, 'managed']);
    expect(answer.body.detail.managed_by).toEqual({ kind: 'Pipeline', namespace: 'monitoring', name: 'from-git' });
    expect(answer.body.detail.message).toContain('Pipeline monitoring/from-git');
    expect(server.disk.contents()).toEqual(before);
  });

  test('win over a file of ours with the same name, whatever the folders are called', async () => {
    server.disk.write('pipelines/from-git.yaml', pipelineYaml('from-git', 'description: ours\n'));
    await server.registry.reload();
    const { byName, problems } = server.registry.current();
    expect(byName.get('from-git')?.config.description).toBe('');
    expect(problems).toMatchObject([
      { reason: 'name_conflict', file: expect.stringContaining('/pipelines/from-git.yaml') },
    ]);
    expect((await server.send('PUT', '/pipelines/from-git', { yaml: pipelineYaml('from-git') })).body.detail.type).toBe(
      'managed',
    );
  });

  test('without a manifest the object is not known, and the file still not ours', async () => {
    server.disk.write('managed/steps/shared.yaml', stepYaml('shared'));
    server.disk.write('managed/manifest.json', 'not JSON');
    await server.registry.reload();
    const answer = await server.send('DELETE', '/steps/shared');
    expect(answer.body.detail).toMatchObject({ type: 'managed', managed_by: null });
  });
});

describe('validate', () => {
  test('a problem has its line and column', async () => {
    const yaml = 'name: x\nsteps:\n  - name: a\n    executor: gateway\n    agent: 5\n';
    const { body } = await server.send('POST', '/pipelines/validate', { yaml });
    expect(body.errors).toContainEqual(expect.objectContaining({ loc: ['steps', 0, 'agent'], line: 5, col: 5 }));
    const broken = await server.send('POST', '/pipelines/validate', { yaml: 'name: x\nsteps: [' });
    expect(broken.body.errors).toMatchObject([{ line: 2 }]);
  });

  test.each(['/pipelines/validate', '/steps/validate'])('%s says yes and writes nothing', async (url) => {
    const before = server.disk.contents();
    const yaml = url.startsWith('/steps') ? stepYaml('new') : pipelineYaml('checkout');
    const answer = await server.send('POST', url, { yaml });
    expect([answer.status, answer.body]).toEqual([200, { valid: true, errors: [], warnings: [] }]);
    expect(server.disk.contents()).toEqual(before);
    expect(await audit()).toEqual([]);
  });

  test.each([
    ['/pipelines/validate', 'name: x\nsteps: 1\n', ['steps']],
    ['/pipelines/validate', pipelineYaml('../etc'), ['name']],
    ['/pipelines/validate', pipelineUsing('x', 'missing'), ['steps', 0, 'use']],
    ['/pipelines/validate', '', []],
    ['/pipelines/validate', 'a: [', []],
    ['/steps/validate', 'name: x\nexecutor: shell\n', ['executor']],
    ['/steps/validate', stepYaml('x', 'colour: red\n'), ['colour']],
  ])('%s says no and where: %s', async (url, yaml, loc) => {
    const { status, body } = await server.send('POST', url, { yaml });
    expect([status, body.valid]).toEqual([200, false]);
    expect(body.errors[0]).toMatchObject({ loc, msg: expect.any(String) });
  });

  test('a rule that never matches and a name without a value are warnings, and the definition is valid', async () => {
    const yaml =
      'name: x\ntrigger: {match: {severity: {like: crit}}}\nsteps:\n  - {name: a, executor: human, timeout_seconds: 60, prompt_template: "{{sumary}}"}\n';
    const { body } = await server.send('POST', '/pipelines/validate', { yaml });
    expect(body).toMatchObject({
      valid: true,
      errors: [],
      warnings: [
        { loc: ['steps', 0, 'prompt_template'], msg: '"sumary" is no known name; did you mean "summary"?' },
        { loc: ['trigger', 'match', 'severity'], msg: 'unknown operator "like"; never matches' },
      ],
    });
    expect((await server.send('POST', '/pipelines', { yaml })).status).toBe(200);
  });

  test('text that is no YAML is told by its line, because it has no keys to go by', async () => {
    const yaml = 'name: x\nsteps:\n  - name: a\n   executor: gateway\n';
    const { body } = await server.send('POST', '/pipelines/validate', { yaml });
    expect(body.errors[0]).toMatchObject({ loc: [], msg: expect.stringMatching(/^line 4, column \d+: /) });
    const refused = await server.send('POST', '/pipelines', { yaml });
    expect(refused.body.detail.message).toMatch(/^the pipeline is not valid: line 4, column \d+: /);
  });
});

describe('shell checks while they are not allowed', () => {
  const SHELL = 'deterministic_checks: [{type: shell, name: disk, run: "df -h"}]\n';
  const inPipeline = `${pipelineYaml('shelly')}    ${SHELL}`;
  const inStep = stepYaml('inspect', SHELL);

  test('are refused on every write and on both validate routes', async () => {
    for (const [method, url, yaml] of [
      ['POST', '/pipelines/validate', inPipeline],
      ['POST', '/steps/validate', inStep],
      ['POST', '/pipelines', inPipeline],
      ['PUT', '/pipelines/checkout', inPipeline.replace('shelly', 'checkout')],
      ['POST', '/steps', inStep.replace('inspect', 'other')],
      ['PUT', '/steps/inspect', inStep],
    ] as const) {
      const answer = await server.send(method, url, { yaml });
      expect([url, answer.status, answer.body.detail.type]).toEqual([url, 400, 'validation']);
      expect(answer.body.detail.message).toContain('security.allow_shell_checks');
      expect(answer.body.detail.errors).toMatchObject([{ msg: expect.stringContaining('shell') }]);
    }
  });

  test('that stand in a library step on disk are no fault of the pipelines that use it', async () => {
    server.disk.write('steps/inspect.yaml', inStep);
    await server.registry.reload();
    expect((await server.send('POST', '/pipelines', { yaml: pipelineUsing('another', 'inspect') })).status).toBe(200);
  });

  test('are found behind any number of those of a library step, which alone refuse nothing', async () => {
    const many = Array.from({ length: 12 }, (_, at) => `{type: shell, name: c${at}, run: id}`).join(', ');
    server.disk.write('steps/inspect.yaml', stepYaml('inspect', `deterministic_checks: [${many}]\n`));
    await server.registry.reload();
    const uses = Array.from({ length: 11 }, (_, at) => `  - {name: u${at}, use: inspect}\n`).join('');
    const using = `name: shelly\nsteps:\n${uses}`;
    const own = `${using}${inPipeline.slice(inPipeline.indexOf('  - '))}`;
    const refused = await server.send('POST', '/pipelines', { yaml: own });
    expect([refused.status, refused.body.detail.errors.map(({ loc }: { loc: unknown[] }) => loc[1])]).toEqual([
      400,
      [11],
    ]);
    expect((await server.send('POST', '/pipelines', { yaml: using })).status).toBe(200);
  });

  test('are taken where they are allowed', async () => {
    const open = await startDefinitionServer({ fill, operator: { allow_shell_checks: true } });
    try {
      expect((await open.send('POST', '/pipelines', { yaml: inPipeline })).status).toBe(200);
      expect((await open.send('POST', '/steps/validate', { yaml: inStep })).body.valid).toBe(true);
    } finally {
      await open.close();
    }
  });
});

describe('suspend and resume', () => {
  test('change one word of the file and keep the rest', async () => {
    const { status, body } = await server.send('POST', '/pipelines/checkout/suspend');
    expect([status, body]).toMatchObject([200, { suspended: true, committed: false, config: { suspend: true } }]);
    expect(server.disk.read('pipelines/checkout.yaml')).toBe(
      COMMENTED.replace('never rename\n', 'never rename\nsuspend: true\n'),
    );
    expect(server.registry.current().byName.get('checkout')?.config.suspend).toBe(true);
    expect((await server.send('POST', '/pipelines/checkout/suspend')).body.note).toContain('is unchanged');
    await server.send('POST', '/pipelines/checkout/resume');
    expect(server.disk.read('pipelines/checkout.yaml')).toBe(
      COMMENTED.replace('never rename\n', 'never rename\nsuspend: false\n'),
    );
    expect(
      (await audit('target=checkout')).map(({ action, outcome }: Record<string, string>) => [action, outcome]),
    ).toEqual([
      ['resume', 'resumed'],
      ['suspend', 'unchanged'],
      ['suspend', 'suspended'],
    ]);
    expect((await audit('action=suspend')).at(-1)).toMatchObject({
      prior_yaml: COMMENTED,
      request_id: expect.any(String),
    });
  });

  test('of what is not there is not found', async () => {
    expect((await server.send('POST', '/pipelines/none/suspend')).body.detail.type).toBe('not_found');
  });
});

test('format=cr answers the custom resource that says the same', async () => {
  const { status, text } = await server.send('GET', '/pipelines/disk_full?format=cr', undefined, 'viewer');
  expect(status).toBe(200);
  expect(text).toMatch(
    /^apiVersion: signalbox.dev\/v1alpha1\nkind: Pipeline\nmetadata:\n {2}name: disk-full\nspec:\n {2}name: disk_full\n/,
  );
  expect((await server.send('GET', '/steps/inspect?format=cr')).text).toContain('kind: LibraryStep');
});

test('a pipeline that names an agent of no gateway is valid with a warning that lists the agents', async () => {
  const gateway = (errors: Record<string, string>) => () =>
    Promise.resolve({ agents: [{ name: 'fixer', executor: 'gateway' as const, model: null }], errors });
  const judged = async (errors: Record<string, string>, agent: string) => {
    const asked = await startDefinitionServer({ deps: { listAgents: gateway(errors) } });
    try {
      const yaml = `name: a\nsteps:\n  - {name: look, executor: gateway, agent: ${agent}, prompt_template: hi}\n`;
      return (await asked.send('POST', '/pipelines/validate', { yaml })).body;
    } finally {
      await asked.close();
    }
  };
  const msg = 'no agent "fixr" is defined here; did you mean "fixer"? Available: fixer.';
  expect(await judged({}, 'fixr')).toEqual({
    valid: true,
    errors: [],
    warnings: [{ loc: ['steps', 0, 'agent'], msg, line: 3, col: 37 }],
  });
  expect(await judged({}, 'fixer')).toEqual({ valid: true, errors: [], warnings: [] });
  // Nothing is known while the gateway is down.
  expect(await judged({ gateway: 'is down' }, 'fixr')).toEqual({ valid: true, errors: [], warnings: [] });
});

test('without a folder a write says which key to set', async () => {
  const bare = await startDefinitionServer();
  bare.disk.write('managed/steps/shared.yaml', stepYaml('shared'));
  const { createWriter } = await import('../../definitions/write.ts');
  const { definitionFiles } = await import('../../definitions/definition-files.ts');
  const { createRegistry } = await import('../../definitions/registry.ts');
  const folders = { pipelineDir: null, stepDir: null, managedDir: bare.disk.folders.managedDir };
  const registry = await createRegistry({ ...folders, operator: {}, now: () => 1 });
  const none = await startDefinitionServer({
    deps: {
      definitions: registry.current,
      writer: createWriter({ registry, folders, files: definitionFiles }),
    },
  });
  try {
    for (const [url, yaml, key] of [
      ['/pipelines', pipelineYaml('a'), 'pipeline_config_dir'],
      ['/steps', stepYaml('a'), 'step_library_dir'],
    ]) {
      const answer = await none.send('POST', url as string, { yaml });
      expect([answer.status, answer.body.detail]).toMatchObject([409, { type: 'conflict', key }]);
      expect((await none.send('POST', `${url}/validate`, { yaml })).body.valid).toBe(true);
    }
    expect((await none.send('PUT', '/steps/a', { yaml: stepYaml('a') })).body.detail.type).toBe('not_found');
    expect((await none.send('DELETE', '/steps/shared')).body.detail.type).toBe('managed');
  } finally {
    await none.close();
    await bare.close();
  }
});
