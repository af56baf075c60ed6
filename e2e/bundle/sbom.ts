/** `npm run sbom`: the packages that the image is made of, as CycloneDX. */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { readOptions } from '@signalbox/crds/process/command-line';

const HELP =
  'npm run --silent sbom > FILE: the packages that Signalbox is made of, without its tools, as CycloneDX JSON\n';
const WORKSPACES = ['crds', 'gateway', 'api-server', 'controller'].flatMap((name) => ['-w', name]);

interface Bom {
  components: { 'bom-ref': string; properties?: { name: string }[] }[];
  dependencies: { ref: string; dependsOn: string[] }[];
}

/** npm's own `--omit dev` drops also what the services share with a tool, so what is for development alone goes here. */
function withoutTools(bom: Bom): Bom {
  const components = bom.components.filter(
    ({ properties = [] }) => !properties.some(({ name }) => name === 'cdx:npm:package:development'),
  );
  const dropped = new Set(bom.components.map((component) => component['bom-ref']));
  for (const component of components) dropped.delete(component['bom-ref']);
  const dependencies = bom.dependencies
    .filter(({ ref }) => !dropped.has(ref))
    .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((other) => !dropped.has(other)) }));
  return { ...bom, components, dependencies };
}

const { values } = readOptions('sbom', HELP, { options: { help: { type: 'boolean' } } });
if (values.help) process.stdout.write(HELP);
else {
  const args = ['sbom', '--sbom-format', 'cyclonedx', ...WORKSPACES];
  const text = execFileSync('npm', args, {
    cwd: join(import.meta.dirname, '../..'),
    encoding: 'utf8',
    maxBuffer: 2 ** 26,
  });
  process.stdout.write(`${JSON.stringify(withoutTools(JSON.parse(text) as Bom), null, 2)}\n`);
}
