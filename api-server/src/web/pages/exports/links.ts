import type { ExportKind } from '../../../service/exports/exports.ts';
import { paths } from '../paths.ts';

interface Filter {
  pipeline?: string | undefined;
  since?: string | undefined;
  until?: string | undefined;
}

/** Links to the files of these kinds, with the filters of the page that an export has, too. */
export const exportLinks = (kinds: readonly ExportKind[], { pipeline, since, until }: Filter = {}) =>
  kinds.flatMap((kind) =>
    (['csv', 'jsonl'] as const).map((format) => ({
      label: `${kind[0]?.toUpperCase()}${kind.slice(1)} as ${format.toUpperCase()}`,
      href: paths.exports(kind, { format, pipeline, since, until }),
    })),
  );
