import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';

/** A tool's result as the text that a model reads: its texts, else its structured content; binary parts by name only. */
export function resultText(result: CallToolResult): string {
  const text = result.content.map((part) => partText(part)).join('\n');
  if (text.trim() !== '' || result.structuredContent === undefined) return text;
  return JSON.stringify(result.structuredContent);
}

type Part = CallToolResult['content'][number];

function partText(part: Part): string {
  switch (part.type) {
    case 'text':
      return part.text;
    case 'image':
    case 'audio':
      return `[${part.type} ${part.mimeType}, ${part.data.length} base64 characters]`;
    case 'resource':
      return 'text' in part.resource ? part.resource.text : `[resource ${part.resource.uri}]`;
    case 'resource_link':
      return `[resource ${part.uri}]`;
    default:
      return part satisfies never;
  }
}
