import { stringify } from 'yaml';
import type { DefinitionKind } from '../problem.ts';
import { customResourceDefinitions, GROUP, KINDS } from './crd.ts';
import { objectSchemas, writtenSchemas } from './json-schemas.ts';
import { reference } from './reference.ts';
import { shareRepeats } from './share-repeats.ts';

const HEADER = '# Generated from crds/src by `npm run generate`. Do not edit.\n';
const SCHEMA_FILES: Record<DefinitionKind, string> = {
  Pipeline: 'pipeline',
  LibraryStep: 'library-step',
  Agent: 'agent',
};

/** Every generated file: path below the repository's root -> text. */
export function generatedFiles(): Map<string, string> {
  const files = new Map<string, string>();
  const names: string[] = [];
  for (const [kind, crd] of Object.entries(customResourceDefinitions())) {
    const name = `${GROUP}_${KINDS[kind as DefinitionKind].plural}.yaml`;
    names.push(name);
    files.set(`config/crd/${name}`, HEADER + yaml(crd));
  }
  files.set(
    'config/crd/kustomization.yaml',
    HEADER +
      yaml({ apiVersion: 'kustomize.config.k8s.io/v1beta1', kind: 'Kustomization', resources: names.toSorted() }),
  );
  for (const [suffix, schemas] of [
    ['', writtenSchemas()],
    ['.object', objectSchemas()],
  ] as const)
    for (const [kind, schema] of Object.entries(schemas))
      files.set(
        `crds/schemas/${SCHEMA_FILES[kind as DefinitionKind]}${suffix}.schema.json`,
        `${JSON.stringify({ title: kind, ...shareRepeats(schema) }, null, 1)}\n`,
      );
  files.set('docs/pipelines.md', reference(writtenSchemas()));
  return files;
}

function yaml(value: unknown): string {
  // kubectl and other tools read YAML 1.1, where a plain `off` is false.
  return stringify(value, { lineWidth: 0, aliasDuplicateObjects: false, compat: 'yaml-1.1' });
}
