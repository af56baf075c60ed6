import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { describe, expect, test } from 'vitest';
import { createTestAuthority, type Pair } from '../../api-server/src/web/fixtures/certificates.ts';
import { scratchDirectory } from '../support/scratch.ts';
import { ROOT, startService } from '../support/start-service.ts';
import { waitFor } from '../support/wait-for.ts';

const START_MS = 120_000;
const OPEN = 'auth: {allow_unauthenticated: true}\n';

/** The common name of the certificate that a new connection is shown. */
function servedBy(url: string): Promise<string> {
  const { hostname: host, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port: Number(port), rejectUnauthorized: false }, () => {
      resolve(String(socket.getPeerCertificate().subject.CN));
      socket.end();
    });
    socket.once('error', reject);
  });
}

describe('the process', { timeout: 300_000 }, () => {
  test('loads definitions and certificates again on SIGHUP, and keeps a certificate that it cannot replace', async () => {
    using scratch = scratchDirectory('signalbox-hang-up-');
    const authority = createTestAuthority();
    const live: Pair = { cert: join(scratch.path, 'live.crt'), key: join(scratch.path, 'live.key') };
    const install = (name: string) => {
      const pair = authority.issue(name);
      copyFileSync(pair.cert, live.cert);
      copyFileSync(pair.key, live.key);
    };
    mkdirSync(join(scratch.path, 'pipelines'));
    install('first');
    const config = join(scratch.path, 'config.yaml');
    const tls = `tls: {cert: live.crt, key: live.key}`;
    const database = `database: {url: "sqlite://${join(scratch.path, 'service.db')}"}`;
    writeFileSync(
      config,
      `${OPEN}${database}\nserver: {host: 127.0.0.1, port: 0, ${tls}}\npipeline_config_dir: pipelines\n`,
    );
    const service = await startService('api-server', config, { timeoutMs: START_MS });
    try {
      expect(service.url).toMatch(/^https:/);
      expect(await servedBy(service.url)).toBe('first');
      const said = (text: string) => service.logs.filter(({ msg }) => msg?.includes(text)).length;
      expect(said('auth.allow_unauthenticated is true')).toBe(1);

      install('second');
      writeFileSync(
        join(scratch.path, 'pipelines', 'p.yaml'),
        'name: p\nsteps: [{name: a, executor: gateway, agent: a, prompt_template: x}]\n',
      );
      process.kill(service.pid, 'SIGHUP');
      await waitFor(async () => (await servedBy(service.url)) === 'second', {
        what: 'the new certificate',
      });
      await expect.poll(() => service.logs).toContainEqual(expect.objectContaining({ msg: 'reloaded', pipelines: 1 }));

      writeFileSync(live.key, 'half a ke');
      process.kill(service.pid, 'SIGHUP');
      await waitFor(() => said('the reload failed') === 1, { what: 'the refusal in the log' });
      expect(await servedBy(service.url)).toBe('second');
    } finally {
      await service.stop();
      authority.remove();
    }
  });

  test.each([
    ['auth: {}', 'auth.tokens: is empty'],
    [`${OPEN}server: {tls: {cert: /none.crt, key: /none.key}}`, 'server.tls.cert: no file /none.crt'],
    [`${OPEN}server: {tls: {cert: config.yaml, key: config.yaml}}`, 'server.tls: cannot be used ('],
    [`${OPEN}concurrency: {max_run: 1}`, 'concurrency.max_run: unknown key'],
  ])('ends with one line and status 1: %s', (text, expected) => {
    using scratch = scratchDirectory('signalbox-start-');
    const config = join(scratch.path, 'config.yaml');
    const database = `database: {url: "sqlite://${join(scratch.path, 'service.db')}"}\n`;
    writeFileSync(config, database + text);
    const args = [join(ROOT, 'api-server', 'start.mjs'), '--config', config];
    const { status, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8', timeout: START_MS });
    expect(status).toBe(1);
    expect(stderr.trim().split('\n')).toHaveLength(1);
    expect(stderr).toContain(expected);
  });
});
