import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

/** A self-signed certificate for 127.0.0.1 that is its own authority; serves as a server's and as a client's. */
export function makeCertificate(directory: string, commonName: string): { certFile: string; keyFile: string } {
  const [certFile, keyFile] = [join(directory, `${commonName}.crt`), join(directory, `${commonName}.key`)];
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  const names = ['-subj', `/CN=${commonName}`, '-addext', 'subjectAltName=IP:127.0.0.1,DNS:localhost'];
  execFileSync('openssl', ['req', '-x509', '-days', '2', ...curve, ...names, '-keyout', keyFile, '-out', certFile], {
    stdio: 'pipe',
  });
  return { certFile, keyFile };
}
