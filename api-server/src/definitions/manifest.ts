import { Document, isMap, type Pair, Scalar, YAMLMap } from 'yaml';
import { readLoaded } from './read-loaded.ts';

const KINDS = { pipeline: 'Pipeline', step: 'LibraryStep' } as const;

/**
 * A definition as a custom resource for `kubectl apply`; comments and `${ENV}` are kept. `spec.name` is set only where
 * the name of the definition is not valid as the name of an object.
 */
export function toManifest(kind: keyof typeof KINDS, name: string, text: string): string {
  const written = readLoaded(text).contents;
  const objectName = objectNameFor(name);
  const spec = new YAMLMap();
  spec.items = isMap(written) ? written.items.filter((pair) => !isNamed(pair)) : [];
  const manifest = new Document({
    apiVersion: 'signalbox.dev/v1alpha1',
    kind: KINDS[kind],
    metadata: { name: objectName },
  });
  if (objectName !== name) spec.items.unshift(manifest.createPair('name', name));
  if (isMap(manifest.contents)) manifest.contents.items.push(manifest.createPair<never, never>('spec', spec));
  return manifest.toString({ lineWidth: 0 });
}

const isNamed = ({ key }: Pair): boolean => key instanceof Scalar && key.value === 'name';

/** A valid Kubernetes name: lower-case letters, digits and `-`, not at the end. */
const objectNameFor = (name: string): string => name.toLowerCase().replaceAll('_', '-').replace(/-+$/, '');
