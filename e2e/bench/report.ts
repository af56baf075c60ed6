import { type Figure, holds } from './benchmark.ts';

const WORDS = { least: 'at least', most: 'at most', exactly: 'exactly' } as const;

/** One line for each figure: value, limit, whether it is met, and the absolute figures. */
export function printTable(outcomes: { benchmark: string; figures: Figure[]; leftOut?: string }[]): void {
  const rows = outcomes.flatMap(({ benchmark, figures, leftOut }) =>
    leftOut === undefined ? figures.map(rowOf) : [[benchmark, '-', '', 'left out', leftOut]],
  );
  const table = [['measure', 'value', 'limit', '', 'details'], ...rows];
  const widths = [0, 1, 2, 3].map((column) => Math.max(...table.map((row) => row[column]?.length ?? 0)));
  console.log();
  for (const row of table)
    console.log(
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    );
}

function rowOf(figure: Figure): string[] {
  const { what, value, unit, limit, detail = '' } = figure;
  const shown = `${Number.isInteger(value) ? value : value.toFixed(2)}${unit === 'x' ? 'x' : ` ${unit}`}`.trim();
  const aim = limit?.aim === undefined ? '' : ` (aim ${limit.aim})`;
  const bound = limit === undefined ? '' : `${WORDS[limit.direction]} ${limit.bound}${aim}`;
  return [what, shown, bound, limit === undefined ? '' : verdict(figure), detail];
}

function verdict(figure: Figure): string {
  if (!holds(figure)) return 'MISSED';
  const { limit } = figure;
  if (limit?.aim === undefined) return 'ok';
  return holds({ ...figure, limit: { ...limit, bound: limit.aim } }) ? 'ok, aim met' : 'ok';
}
