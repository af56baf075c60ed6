import type { TextFormat } from '../../store/db/texts/text-page.ts';

export const EXPORT_FORMATS = ['jsonl', 'csv'] as const satisfies TextFormat[];
export type ExportFormat = TextFormat;

export const MEDIA_TYPES: Readonly<Record<ExportFormat, string>> = {
  jsonl: 'application/x-ndjson',
  csv: 'text/csv; charset=utf-8',
};
