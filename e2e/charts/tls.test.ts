import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { get } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { makeCertificate } from '../support/certificate.ts';
import { localTokens, tokenEnvironment } from '../support/local-tokens.ts';
import { startService } from '../support/start-service.ts';
import { type Manifest, pick, refusal, render, renderText } from './helm.ts';

const TLS = { 'tls.enabled': true, 'tls.existingSecret': 'mine' };
const MONITORED = { 'monitoring.serviceMonitor.enabled': true, 'monitoring.alertmanagerConfig.enabled': true };
const folder = mkdtempSync(join(tmpdir(), 'chart-tls-'));
afterAll(() => rmSync(folder, { recursive: true }));

const podOf = (manifests: readonly Manifest[], name: string) => pick(manifests, 'Deployment', name).spec.template.spec;
const configOf = (manifests: readonly Manifest[], file: string) =>
  parse(pick(manifests, 'ConfigMap', 'sb-config').data[file]);

test('without tls.enabled nothing speaks TLS', async () => {
  expect(await renderText(MONITORED)).not.toMatch(/https:\/\/sb-|wss:|HTTPS|\/tls|tlsConfig/);
});

test.each(['api-server', 'gateway'])('the pods of the %s serve TLS, and its sidecar trusts it', async (part) => {
  const manifests = await render(TLS);
  expect(configOf(manifests, `${part}.yaml`).server.tls).toEqual({ cert: '/tls/tls.crt', key: '/tls/tls.key' });
  const { containers, initContainers, volumes, hostAliases } = podOf(manifests, `sb-${part}`);
  const [service] = containers;
  for (const probe of ['startupProbe', 'livenessProbe', 'readinessProbe'])
    expect(service[probe].httpGet.scheme).toBe('HTTPS');
  expect(service.volumeMounts).toContainEqual({ name: 'tls', mountPath: '/tls', readOnly: true });
  expect(volumes).toContainEqual({ name: 'tls', secret: expect.objectContaining({ secretName: 'mine' }) });
  const sync = initContainers.find(({ name }: { name: string }) => name === 'sync');
  expect(sync.args).toContainEqual(expect.stringContaining(`--reload-url=https://sb-${part}:`));
  expect(sync.env).toEqual([{ name: 'NODE_EXTRA_CA_CERTS', value: '/ca/ca.crt' }]);
  expect(sync.volumeMounts.map(({ name }: { name: string }) => name)).not.toContain('tls');
  expect(hostAliases).toEqual([{ ip: '127.0.0.1', hostnames: [`sb-${part}`] }]);
});

test('those who call the services trust the CA of the Secret, and get no key', async () => {
  const manifests = await render({ ...TLS, ...MONITORED });
  expect(configOf(manifests, 'api-server.yaml').executors.gateway).toMatchObject({
    url: 'wss://sb-gateway:18780/rpc',
    rest_url: 'https://sb-gateway:18780',
    tls: { ca: '/tls/ca.crt' },
  });
  const { containers, volumes } = podOf(manifests, 'sb-controller');
  expect(containers[0].args).toEqual(
    expect.arrayContaining([
      '--api-server-url=https://sb-api-server-pods:8000',
      '--gateway-url=https://sb-gateway-pods:18780',
      '--ca=/ca/ca.crt',
    ]),
  );
  const items = [{ key: 'ca.crt', path: 'ca.crt' }];
  expect(volumes).toContainEqual({ name: 'tls-ca', secret: expect.objectContaining({ secretName: 'mine', items }) });
  expect(pick(manifests, 'Pod', 'sb-test').spec.volumes).toContainEqual(expect.objectContaining({ name: 'tls-ca' }));
  const ca = { secret: { name: 'mine', key: 'ca.crt' } };
  const [scraped, sidecar] = pick(manifests, 'ServiceMonitor', 'sb-gateway').spec.endpoints;
  expect(scraped).toMatchObject({ scheme: 'https', tlsConfig: { ca, serverName: 'sb-gateway-pods' } });
  expect(sidecar).not.toHaveProperty('scheme');
  const [hook] = pick(manifests, 'AlertmanagerConfig', 'sb').spec.receivers[0].webhookConfigs;
  expect(hook).toMatchObject({ url: expect.stringMatching(/^https:/), httpConfig: { tlsConfig: { ca } } });
});

test('cert-manager makes the certificate for every name that is called', async () => {
  const manifests = await render({ 'tls.enabled': true, 'tls.issuerRef': { name: 'internal', kind: 'ClusterIssuer' } });
  const { secretName, issuerRef, dnsNames } = pick(manifests, 'Certificate', 'sb').spec;
  expect([secretName, issuerRef.name]).toEqual(['sb-tls', 'internal']);
  expect(dnsNames).toEqual(
    expect.arrayContaining(['sb-api-server', 'sb-api-server-pods', 'sb-gateway', 'sb-gateway-pods']),
  );
  expect(podOf(manifests, 'sb-gateway').volumes).toContainEqual(
    expect.objectContaining({ secret: expect.objectContaining({ secretName: 'sb-tls' }) }),
  );
});

test('a certificate comes from one place', async () => {
  expect(await refusal({ 'tls.enabled': true })).toContain('tls: set either existingSecret or issuerRef');
  expect(await refusal({ ...TLS, 'tls.issuerRef.name': 'internal' })).toContain('tls: set either');
});

test('the api-server serves TLS with the configuration of the chart', async () => {
  for (const name of ['tls', 'data/pipelines', 'data/steps', 'managed/pipelines', 'managed/steps'])
    mkdirSync(join(folder, name), { recursive: true });
  const { certFile, keyFile } = makeCertificate(folder, 'api-server');
  for (const [from, to] of [
    [certFile, 'tls.crt'],
    [keyFile, 'tls.key'],
    [certFile, 'ca.crt'],
  ] as const)
    writeFileSync(join(folder, 'tls', to), readFileSync(from), { mode: 0o600 });
  const { data } = pick(await render(TLS), 'ConfigMap', 'sb-config');
  const written = String(data['api-server.yaml'])
    .replaceAll(/(?<=[ :])\/(?=tls|data|managed)/g, `${folder}/`)
    .replace('port: 8000', 'port: 0');
  const config = join(folder, 'api-server.yaml');
  writeFileSync(config, written);
  const tokens = tokenEnvironment(localTokens(folder));
  const names = [...written.matchAll(/\$\{(\w+)\}/g)].map(([, name = '']) => [
    name,
    `${name}-0123456789-0123456789abcdef`,
  ]);
  const service = await startService('api-server', config, { env: { ...Object.fromEntries(names), ...tokens } });
  try {
    expect(service.url).toMatch(/^https:/);
    const ca = readFileSync(join(folder, 'tls/ca.crt'));
    const url = `${service.url.replace('0.0.0.0', '127.0.0.1')}/health`;
    const status = new Promise((resolve, reject) => {
      get(url, { ca }, (response) => resolve(response.resume().statusCode)).once('error', reject);
    });
    expect(await status).toBe(200);
    await expect(fetch(url.replace('https', 'http'))).rejects.toThrow('fetch failed');
  } finally {
    await service.stop();
  }
});
