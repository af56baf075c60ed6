/** One YAML document of a file; `line` is how many lines stand before it. */
export interface DocumentText {
  text: string;
  line: number;
}

/** Splits at the document markers, so that the limits of one definition apply to each document. */
export function splitDocuments(text: string): DocumentText[] {
  const documents: DocumentText[] = [];
  let start = 0;
  const lines = text.split('\n');
  const push = (end: number): void => {
    const body = lines.slice(start, end).join('\n');
    if (body.split('\n').some((line) => line.trim() !== '' && !line.trimStart().startsWith('#')))
      documents.push({ text: body, line: start });
  };
  lines.forEach((line, index) => {
    if (!/^---(\s|$)/.test(line)) return;
    push(index);
    lines[index] = line.replace(/^---\s*/, '');
    start = index;
  });
  push(lines.length);
  return documents;
}
