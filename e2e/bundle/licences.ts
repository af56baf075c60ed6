import { globSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';

const Manifest = z.object({
  name: z.string(),
  version: z.string(),
  license: z.string(),
  author: z.union([z.string(), z.object({ name: z.string() }).transform(({ name }) => name)]).optional(),
});

const LICENCE_FILE = /^(licen[cs]e|copying|notice)(?!.*\.(js|ts|json)$)/i;
const RULE = '-'.repeat(80);

/** The folder of the package that a module belongs to; undefined for our own. */
export function packageOf(module: string): string | undefined {
  return /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(module.replaceAll('\\', '/').replaceAll('\0', ''))?.[0];
}

/** Name, version, licence and the whole text of it, for each of these folders of packages. */
export function licencesOf(folders: readonly string[]): string {
  const entries = folders.map((folder) => {
    const { name, version, license, author } = Manifest.parse(
      JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')),
    );
    const texts = licenceTexts(folder);
    // Some packages ship no text; what they declare is all there is to keep.
    const text =
      texts.length > 0
        ? texts.join('\n\n')
        : `Declared as ${license}${author ? ` by ${author}` : ''}; the package has no text of it.`;
    return `${RULE}\n${name} ${version} (${license})\n${RULE}\n\n${text.trim()}\n`;
  });
  return ['Signalbox contains the following packages.\n', ...new Set(entries.toSorted())].join('\n');
}

/** The texts of the files named so, and of all files in folders named so. */
function licenceTexts(folder: string): string[] {
  const named = readdirSync(folder).filter((name) => LICENCE_FILE.test(name));
  const files = globSync([...named, ...named.map((name) => `${name}/**`)], { cwd: folder, withFileTypes: true });
  const paths = files.filter((file) => file.isFile()).map(({ parentPath, name }) => join(parentPath, name));
  return paths.toSorted().map((path) => readFileSync(path, 'utf8').trim());
}
