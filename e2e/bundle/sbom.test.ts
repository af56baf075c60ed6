import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ROOT } from '../checks/run-command.ts';

interface Manifest {
  dependencies: Record<string, string>;
}

test('npm run sbom names every package that the image is made of, with its version, and no tool of development', () => {
  const text = execFileSync('npm', ['run', '--silent', 'sbom'], { cwd: ROOT, encoding: 'utf8', maxBuffer: 2 ** 26 });
  const { bomFormat, components } = JSON.parse(text) as {
    bomFormat: string;
    components: { purl: string; licenses?: object[] }[];
  };
  const listed = new Set(components.map(({ purl }) => decodeURIComponent(purl)));
  const imported = ['crds', 'gateway', 'api-server', 'controller'].flatMap((workspace) => {
    const manifest = JSON.parse(readFileSync(join(ROOT, workspace, 'package.json'), 'utf8')) as Manifest;
    return Object.entries(manifest.dependencies).filter(([name]) => !name.startsWith('@signalbox/'));
  });
  expect(bomFormat).toBe('CycloneDX');
  expect(imported.length).toBeGreaterThan(20);
  expect(imported.map(([name, version]) => `pkg:npm/${name}@${version}`).filter((purl) => !listed.has(purl))).toEqual(
    [],
  );
  expect([...listed].filter((purl) => /\/(vitest|rolldown|typescript|server-everything)@/.test(purl))).toEqual([]);
});
