import { OpenAICompatibleChatLanguageModel } from '@ai-sdk/openai-compatible';
import type { LanguageModelV4CallOptions, LanguageModelV4GenerateResult } from '@ai-sdk/provider';
import { chatModelOf } from '../language-model.ts';
import type { ModelProvider } from '../model.ts';
import { requestBody, textAnswer } from './chat-completions.ts';
import type { ProviderSettings } from './settings.ts';

type Options = LanguageModelV4CallOptions;

/** Any server that speaks Chat Completions; `base_url` ends before `/chat/completions`. */
export function openOpenAiCompatible(settings: ProviderSettings, carriesTrace = true): ModelProvider {
  const { name, fetch } = settings;
  const url = `${(settings.baseUrl ?? '').replace(/\/$/, '')}/chat/completions`;
  const headers = headersOf(settings);
  const modelWith = (send: typeof fetch, id: string) =>
    new OpenAICompatibleChatLanguageModel(id, {
      provider: `${name}.chat`,
      url: () => url,
      headers: () => headers,
      fetch: send,
      includeUsage: true,
    });

  return {
    model: (id) => {
      const sdk = modelWith(fetch, id);
      /** The SDK reads what is no answer, so that every provider's failure is told in the same way. */
      const readFailure = (fetched: Promise<Response>, options: Options) =>
        modelWith(() => fetched, id).doGenerate(options);
      // The SDK's own sending builds all headers anew and encodes the body twice: a fifth of what an agent run costs us.
      const doGenerate = async (options: Options): Promise<LanguageModelV4GenerateResult> => {
        const body = requestBody({ provider: name, model: id }, options);
        const fetched = fetch(url, {
          method: 'POST',
          headers: options.headers ? { ...headers, ...lowerCased(options.headers) } : headers,
          body: JSON.stringify(body),
          ...(options.abortSignal ? { signal: options.abortSignal } : {}),
        });
        const answer = await readAnswer(fetched);
        if (answer === undefined) return readFailure(fetched, options);
        return textAnswer(answer) ?? sdk.convertResponse({ body: answer }).catch(() => readFailure(fetched, options));
      };
      const model = { modelId: id, doGenerate, doStream: (options: Options) => sdk.doStream(options) };
      return chatModelOf(model, { jsonMode: false, carriesTrace });
    },
  };
}

function headersOf({ apiKey, headers }: ProviderSettings): Record<string, string> {
  return {
    'content-type': 'application/json',
    'user-agent': 'signalbox-gateway',
    'accept-encoding': 'identity',
    ...(apiKey ? { authorization: `Bearer ${apiKey}` } : {}),
    ...lowerCased(headers),
  };
}

function lowerCased(headers: Record<string, string | undefined>): Record<string, string> {
  const given = Object.entries(headers).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return Object.fromEntries(given.map(([name, value]) => [name.toLowerCase(), value]));
}

/** Undefined for anything but JSON with a good status. */
async function readAnswer(fetched: Promise<Response>): Promise<unknown> {
  try {
    const response = await fetched;
    return response.ok ? JSON.parse(await response.text()) : undefined;
  } catch {
    return undefined;
  }
}
