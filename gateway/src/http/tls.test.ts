import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { get, type RequestOptions } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { makeCertificate } from '../../../e2e/support/certificate.ts';
import { startTestGateway, type TestGateway } from '../testing/start-test-gateway.ts';

let folder: string;
let gateway: TestGateway | null = null;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gateway-tls-'));
});
afterEach(async () => {
  await gateway?.close();
  gateway = null;
  rmSync(folder, { recursive: true });
});

const inFolder = (name: string) => join(folder, name);

/** The name in the certificate of the answer. */
function askWith(url: string, options: RequestOptions = {}): Promise<string> {
  return new Promise((resolve, reject) => {
    const asked = get(`${url}/health`, { rejectUnauthorized: false, agent: false, ...options }, (response) => {
      response.resume();
      resolve(String((response.socket as TLSSocket).getPeerCertificate().subject.CN));
    });
    asked.once('error', reject);
  });
}

function serveAs(name: string): void {
  const { certFile, keyFile } = makeCertificate(folder, name);
  copyFileSync(certFile, inFolder('tls.crt'));
  copyFileSync(keyFile, inFolder('tls.key'));
}

const TLS = () => ({ cert: inFolder('tls.crt'), key: inFolder('tls.key') });

test('a replaced certificate is served after a reload, and one that cannot be used is not', async () => {
  serveAs('first');
  gateway = await startTestGateway({ config: { server: { tls: TLS() } } });
  expect(await askWith(gateway.url)).toBe('first');
  serveAs('second');
  expect(await askWith(gateway.url)).toBe('first');
  await gateway.reload();
  expect(await askWith(gateway.url)).toBe('second');
  writeFileSync(inFolder('tls.crt'), 'no certificate');
  await gateway.reload();
  expect(await askWith(gateway.url)).toBe('second');
  expect(gateway.warnings).toMatchObject([{ msg: 'certificate cannot be used; the one from before stays' }]);
});

test('with a client_ca only clients with a certificate of it are answered', async () => {
  serveAs('server');
  const client = makeCertificate(folder, 'client');
  const stranger = makeCertificate(folder, 'stranger');
  const shown = ({ certFile, keyFile }: typeof client) => ({
    cert: readFileSync(certFile),
    key: readFileSync(keyFile),
  });
  gateway = await startTestGateway({ config: { server: { tls: { ...TLS(), client_ca: client.certFile } } } });
  expect(await askWith(gateway.url, shown(client))).toBe('server');
  await expect(askWith(gateway.url)).rejects.toThrow();
  await expect(askWith(gateway.url, shown(stranger))).rejects.toThrow();
  await gateway.reload();
  await expect(askWith(gateway.url)).rejects.toThrow();
});
