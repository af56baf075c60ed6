import type { ModelPrompt } from '../model.ts';

interface ReadPrompt {
  soul: string;
  input: string;
  /** What the tools returned so far, in order of the calls. */
  results: unknown[];
}

/** Takes a prompt apart the way a script refers to it. */
export function readPrompt(prompt: ModelPrompt): ReadPrompt {
  const read: ReadPrompt = { soul: '', input: '', results: [] };
  for (const message of prompt) {
    if (message.role === 'system') read.soul += message.content;
    else if (message.role === 'user') read.input += textOf(message.content);
    else if (message.role === 'tool') read.results.push(...resultsOf(message.content));
  }
  return read;
}

type UserMessage = Extract<ModelPrompt[number], { role: 'user' }>;
type ToolMessage = Extract<ModelPrompt[number], { role: 'tool' }>;
type Output = Extract<ToolMessage['content'][number], { type: 'tool-result' }>['output'];

function textOf(content: UserMessage['content']): string {
  return content.map((part) => (part.type === 'text' ? part.text : '')).join('');
}

function resultsOf(content: ToolMessage['content']): unknown[] {
  return content.flatMap((part) => (part.type === 'tool-result' ? [resultOf(part.output)] : []));
}

function resultOf(output: Output): unknown {
  switch (output.type) {
    case 'text':
      return parsed(output.value);
    case 'error-text':
      return { error: output.value };
    case 'execution-denied':
      return { error: output.reason ?? 'denied' };
    case 'json':
    case 'error-json':
      return output.value;
    default:
      return null;
  }
}

function parsed(text: string): unknown {
  if (!/^\s*[[{]/.test(text)) return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
