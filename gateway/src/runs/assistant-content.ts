import type { ModelContent, ModelPrompt } from '../models/model.ts';

type AssistantContent = Extract<ModelPrompt[number], { role: 'assistant' }>['content'];

/** What a model said, in the form in which it is told again: signatures and ids of the provider included. */
export function assistantContent(content: readonly ModelContent[]): AssistantContent {
  const said = content.flatMap((part): AssistantContent => {
    if (part.type === 'text' && part.text === '') return [];
    if (part.type === 'text' || part.type === 'reasoning')
      return [{ type: part.type, text: part.text, providerOptions: part.providerMetadata }];
    if (part.type === 'tool-call') {
      const { toolCallId, toolName } = part;
      return [
        {
          type: 'tool-call',
          toolCallId,
          toolName,
          input: parsedInput(part.input),
          providerOptions: part.providerMetadata,
        },
      ];
    }
    return [];
  });
  return said.length > 0 ? said : [{ type: 'text', text: '(no answer)' }];
}

function parsedInput(text: string): unknown {
  try {
    return text.trim() === '' ? {} : JSON.parse(text);
  } catch {
    return {};
  }
}
