import { z } from 'zod';

/** The result of a call. Its parts are read one by one: a schema of a list describes every problem of millions of parts before it says that there are some. */
export const CallResult = z.looseObject({
  content: z.array(z.unknown()).default([]),
  structuredContent: z.unknown().optional(),
  isError: z.boolean().optional(),
});
export type CallResult = z.infer<typeof CallResult>;

/** A tool's result as the text that a model reads: its texts, else its structured content; binary parts by name only. Throws for a part that is none. */
export function resultText({ content, structuredContent }: CallResult): string {
  const text = content.map((part) => partText(fieldsOf(part))).join('\n');
  if (text.trim() !== '' || structuredContent === undefined) return text;
  return JSON.stringify(structuredContent);
}

type Fields = Record<string, unknown>;

const fieldsOf = (value: unknown): Fields => (typeof value === 'object' && value !== null ? (value as Fields) : {});

function partText(part: Fields): string {
  switch (part['type']) {
    case 'text':
      return textOf(part['text']);
    case 'image':
    case 'audio':
      return `[${part['type']} ${textOf(part['mimeType'])}, ${textOf(part['data']).length} base64 characters]`;
    case 'resource': {
      const { text, uri } = fieldsOf(part['resource']);
      return typeof text === 'string' ? text : `[resource ${textOf(uri)}]`;
    }
    case 'resource_link':
      return `[resource ${textOf(part['uri'])}]`;
    default:
      throw new Error('it sent a result with a part of an unknown type');
  }
}

function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  throw new Error('it sent a result with a part that cannot be read');
}
