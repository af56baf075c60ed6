import { globSync, readFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Plugin } from 'rolldown';

/** `new URL('./worker.ts', import.meta.url)`, the file of a package, or any other use of a module's own place. */
const OWN_PLACE =
  /new URL\('(\.[^']+\.ts)', import\.meta\.url\)|import\.meta\.resolve\('([^']+)'\)|import\.meta\.(?:url|dirname|filename)/g;

/**
 * What finds files by its own place still finds them in a bundle: a worker becomes a file of the bundle, and every other module gets
 * the place it would have if `folder` were where the bundle is. A file of a package that is read as it stands is copied to `packages/`.
 * `files` are those of `folder/src` that go there: all but code; `resolved` are the copied files of packages.
 */
export function filesBeside(folder: string): { plugin: Plugin; files(): string[]; resolved: string[] } {
  let readsFiles = false;
  const resolved: string[] = [];
  const plugin: Plugin = {
    name: 'files-beside',
    transform: {
      filter: { id: /^(?!\0)(?!.*node_modules)/, code: /import\.meta\.(?:url|dirname|filename|resolve)/ },
      handler(code, id) {
        const placed = code.replaceAll(OWN_PLACE, (use: string, worker?: string, module?: string) => {
          if (worker !== undefined) {
            const fileName = `${basename(worker, '.ts')}.mjs`;
            this.emitFile({ type: 'chunk', id: join(dirname(id), worker), fileName });
            return `new URL('./${fileName}', import.meta.url)`;
          }
          if (module !== undefined) {
            const file = fileURLToPath(import.meta.resolve(module));
            resolved.push(file);
            const fileName = `packages/${basename(file)}`;
            this.emitFile({ type: 'asset', fileName, source: readFileSync(file) });
            return `new URL('./${fileName}', import.meta.url).href`;
          }
          const place = relative(folder, id);
          if (use !== 'import.meta.url' || place.startsWith('..'))
            this.error(`${use} in ${id}: a bundle knows import.meta.url only, of modules in ${folder}`);
          readsFiles = true;
          return `new URL('./${place}', import.meta.url).href`;
        });
        // Every line stays where it was, so the map of before holds.
        return { code: placed, map: null };
      },
    },
  };
  const notCode = { exclude: ['**/*.ts', '**/fixtures/**', '**/testing/**'] };
  return { plugin, resolved, files: () => (readsFiles ? globSync(`${folder}/src/**/*.*`, notCode) : []) };
}
