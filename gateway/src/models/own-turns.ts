import type { ModelContent, ModelPrompt } from './model.ts';
import { type ModelRoute, nameOf } from './route.ts';
import { parseToolInput } from './tool-input.ts';

type AssistantMessage = Extract<ModelPrompt[number], { role: 'assistant' }>;
type AssistantContent = AssistantMessage['content'];

/** A model's answer as a turn of the next prompt, with the provider's signatures and ids, and the name of the provider. */
export function turnOf(route: ModelRoute, content: readonly ModelContent[]): AssistantMessage {
  const said = content.flatMap((part): AssistantContent => {
    if (part.type === 'text' && part.text === '') return [];
    if (part.type === 'text' || part.type === 'reasoning')
      return [{ type: part.type, text: part.text, providerOptions: part.providerMetadata }];
    if (part.type !== 'tool-call') return [];
    const { type, toolCallId, toolName, input, providerMetadata } = part;
    return [{ type, toolCallId, toolName, input: parseToolInput(input) ?? {}, providerOptions: providerMetadata }];
  });
  return { role: 'assistant', content: orNothing(said), providerOptions: { signalbox: { by: nameOf(route) } } };
}

/**
 * A prompt as one model accepts it. Reasoning of other models, and parts that only their provider can decrypt, are left out:
 * providers refuse them, and a fallback within a run would fail.
 */
export function promptFor(route: ModelRoute, prompt: ModelPrompt): ModelPrompt {
  const own = nameOf(route);
  return prompt.map((message) =>
    message.role !== 'assistant' || message.providerOptions?.['signalbox']?.['by'] === own
      ? message
      : { role: 'assistant', content: orNothing(message.content.flatMap(withoutThoughts)) },
  );
}

function withoutThoughts(part: AssistantContent[number]): AssistantContent {
  return part.type === 'reasoning' ? [] : [{ ...part, providerOptions: undefined }];
}

function orNothing(content: AssistantContent): AssistantContent {
  return content.length > 0 ? content : [{ type: 'text', text: '(no answer)' }];
}
