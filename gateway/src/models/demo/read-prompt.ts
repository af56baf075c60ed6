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
    else if (message.role === 'user') for (const part of message.content) read.input += part.type === 'text' ? part.text : '';
    else if (message.role === 'tool') for (const part of message.content) if (part.type === 'tool-result') read.results.push(resultOf(part.output));
  }
  return read;
}

type ToolMessage = Extract<ModelPrompt[number], { role: 'tool' }>;
type Output = Extract<ToolMessage['content'][number], { type: 'tool-result' }>['output'];

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
