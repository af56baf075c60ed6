import { stripVTControlCharacters, styleText } from 'node:util';

type Style = Parameters<typeof styleText>[0];

/** Colours only where the terminal shows them (and NO_COLOR does not ask for none). */
const paint = (style: Style) => (text: string) => styleText(style, text, { stream: process.stdout });

export const bold = paint('bold');
export const dim = paint('dim');
export const green = paint('green');
export const red = paint('red');
export const yellow = paint('yellow');
export const blue = paint('blue');
export const violet = paint('magenta');

export function print(...columns: string[]): void {
  process.stdout.write(`${`  ${columns.join('')}`.trimEnd()}\n`);
}

export function heading(text: string, aside = ''): void {
  print();
  print(bold(text), aside ? `  ${dim(aside)}` : '');
}

/** What a tool or an agent said must not steer the terminal. */
const harmless = (text: string) =>
  stripVTControlCharacters(text)
    .replaceAll(/[\u0000-\u001f\u007f-\u009f\s]+/g, ' ')
    .trim();

/** Cuts to one line of `width` characters. */
export function clip(text: string, width: number): string {
  const line = harmless(text);
  return line.length > width ? `${line.slice(0, Math.max(0, width - 1))}…` : line;
}

export const terminalWidth = () => Math.min(Math.max(process.stdout.columns ?? 110, 72), 132);

export const seconds = (milliseconds: number) => `${(milliseconds / 1000).toFixed(1)} s`;

/** Breaks prose into lines of at most `width` characters. */
export function wrap(text: string, width: number): string[] {
  const lines: string[] = [''];
  for (const word of harmless(text).split(' ')) {
    const line = lines.at(-1) ?? '';
    if (line === '') lines[lines.length - 1] = word;
    else if (line.length + 1 + word.length <= width) lines[lines.length - 1] = `${line} ${word}`;
    else lines.push(word);
  }
  return lines;
}
