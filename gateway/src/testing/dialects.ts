import type { FakeAnswer, JsonBody } from './fake-model-server.ts';

interface ToolCall {
  name: string;
  input: Record<string, unknown>;
}

/** How one kind of provider says things on the wire. */
export interface Dialect {
  type: 'anthropic' | 'openai' | 'azure' | 'google' | 'openrouter' | 'ollama' | 'openai_compatible';
  options?: Record<string, unknown>;
  /** Appended to the server's address to make `base_url`. */
  basePath: string;
  path: string;
  key: (headers: Record<string, unknown>) => unknown;
  text: (text: string) => FakeAnswer;
  toolCall: (call: ToolCall) => FakeAnswer;
  stream: (deltas: string[]) => FakeAnswer;
  /** A tool call whose arguments come in pieces, where the dialect can say it so. */
  streamToolCall: (call: ToolCall) => FakeAnswer;
  error: (status: number, message: string) => FakeAnswer;
  /** An error that comes as an event of a stream which began well. */
  streamError: (message: string) => FakeAnswer;
  /** Names of the tools in a request. */
  toolsOf: (body: JsonBody) => string[];
  maxTokensOf: (body: JsonBody) => unknown;
  temperatureOf: (body: JsonBody) => unknown;
  /** A model that can think, and where and how the dialect says how much. */
  thinking: {
    model: string;
    of: (body: JsonBody) => unknown;
    off: unknown;
    low: unknown;
    medium: unknown;
    high: unknown;
  };
}

const anthropicUsage = {
  input_tokens: 70,
  cache_read_input_tokens: 30,
  cache_creation_input_tokens: 0,
  output_tokens: 20,
};
const anthropicMessage = (content: unknown[], stop_reason: string) => ({
  json: {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'm-dated',
    content,
    stop_reason,
    stop_sequence: null,
    usage: anthropicUsage,
  },
});
const anthropicStart = {
  type: 'message_start',
  message: {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'm-dated',
    content: [],
    stop_reason: null,
    usage: { ...anthropicUsage, output_tokens: 1 },
  },
};
const halves = (input: object): string[] => {
  const text = JSON.stringify(input);
  return [text.slice(0, 4), text.slice(4)];
};
const anthropic: Dialect = {
  type: 'anthropic',
  basePath: '/v1',
  path: '/v1/messages',
  key: (headers) => headers['x-api-key'],
  text: (text) => anthropicMessage([{ type: 'text', text }], 'end_turn'),
  toolCall: ({ name, input }) => anthropicMessage([{ type: 'tool_use', id: 'call_1', name, input }], 'tool_use'),
  stream: (deltas) => ({
    named: true,
    events: [
      anthropicStart,
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      ...deltas.map((text) => ({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } })),
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: 20 } },
      { type: 'message_stop' },
    ],
  }),
  streamToolCall: ({ name, input }) => ({
    named: true,
    events: [
      anthropicStart,
      { type: 'content_block_start', index: 0, content_block: { type: 'tool_use', id: 'call_1', name, input: {} } },
      ...halves(input).map((partial_json) => ({
        type: 'content_block_delta',
        index: 0,
        delta: { type: 'input_json_delta', partial_json },
      })),
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: 'tool_use', stop_sequence: null }, usage: { output_tokens: 20 } },
      { type: 'message_stop' },
    ],
  }),
  error: (status, message) => ({ status, json: { type: 'error', error: { type: 'api_error', message } } }),
  streamError: (message) => ({
    named: true,
    events: [anthropicStart, { type: 'error', error: { type: 'overloaded_error', message } }],
  }),
  toolsOf: (body) => (body.tools ?? []).map(({ name }: { name: string }) => name),
  maxTokensOf: (body) => body.max_tokens,
  temperatureOf: (body) => body.temperature,
  thinking: {
    model: 'claude-sonnet-4-5',
    of: (body) => body.thinking,
    off: { type: 'disabled' },
    low: { type: 'enabled', budget_tokens: 6400 },
    medium: { type: 'enabled', budget_tokens: 19_200 },
    high: { type: 'enabled', budget_tokens: 38_400 },
  },
};

const chatUsage = {
  prompt_tokens: 100,
  completion_tokens: 20,
  total_tokens: 120,
  prompt_tokens_details: { cached_tokens: 30 },
};
const chatCompletion = (message: object, finish_reason: string) => ({
  json: {
    id: 'c1',
    object: 'chat.completion',
    created: 1,
    model: 'm-dated',
    choices: [{ index: 0, message: { role: 'assistant', content: null, ...message }, finish_reason }],
    usage: chatUsage,
  },
});
const chunk = (delta: object, finish_reason: string | null = null, usage: object | null = null) => ({
  id: 'c1',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'm-dated',
  choices: [{ index: 0, delta, finish_reason }],
  usage,
});
const chat: Dialect = {
  type: 'openai_compatible',
  basePath: '/v1',
  path: '/v1/chat/completions',
  key: (headers) => headers['authorization'],
  text: (content) => chatCompletion({ content }, 'stop'),
  toolCall: ({ name, input }) =>
    chatCompletion(
      { tool_calls: [{ id: 'call_1', type: 'function', function: { name, arguments: JSON.stringify(input) } }] },
      'tool_calls',
    ),
  stream: (deltas) => ({
    events: [
      chunk({ role: 'assistant', content: '' }),
      ...deltas.map((content) => chunk({ content })),
      chunk({}, 'stop', chatUsage),
      '[DONE]',
    ],
  }),
  streamToolCall: ({ name, input }) => ({
    events: [
      chunk({
        role: 'assistant',
        tool_calls: [{ index: 0, id: 'call_1', type: 'function', function: { name, arguments: '' } }],
      }),
      ...halves(input).map((text) => chunk({ tool_calls: [{ index: 0, function: { arguments: text } }] })),
      chunk({}, 'tool_calls', chatUsage),
      '[DONE]',
    ],
  }),
  error: (status, message) => ({ status, json: { error: { message, type: 'server_error', code: null } } }),
  streamError: (message) => ({
    events: [chunk({ role: 'assistant', content: 'a' }), { error: { message, type: 'server_error', code: null } }],
  }),
  toolsOf: (body) => (body.tools ?? []).map((tool: { function: { name: string } }) => tool.function.name),
  maxTokensOf: (body) => body.max_tokens ?? body.max_completion_tokens,
  temperatureOf: (body) => body.temperature,
  thinking: {
    model: 'm-1',
    of: (body) => body.reasoning_effort,
    off: 'none',
    low: 'low',
    medium: 'medium',
    high: 'high',
  },
};

const responsesUsage = {
  input_tokens: 100,
  input_tokens_details: { cached_tokens: 30 },
  output_tokens: 20,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: 120,
};
const response = (output: unknown[]) => ({
  json: {
    id: 'r1',
    object: 'response',
    created_at: 1,
    status: 'completed',
    model: 'm-dated',
    output,
    usage: responsesUsage,
    error: null,
    incomplete_details: null,
  },
});
const responseText = (text: string) => ({
  type: 'message',
  id: 'o1',
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'output_text', text, annotations: [] }],
});
const responses: Dialect = {
  type: 'openai',
  basePath: '/v1',
  path: '/v1/responses',
  key: (headers) => headers['authorization'],
  text: (text) => response([responseText(text)]),
  toolCall: ({ name, input }) =>
    response([
      {
        type: 'function_call',
        id: 'f1',
        call_id: 'call_1',
        name,
        arguments: JSON.stringify(input),
        status: 'completed',
      },
    ]),
  stream: (deltas) => ({
    named: true,
    events: [
      { type: 'response.created', response: { id: 'r1', created_at: 1, model: 'm-dated' } },
      { type: 'response.output_item.added', output_index: 0, item: { type: 'message', id: 'o1' } },
      ...deltas.map((delta) => ({
        type: 'response.output_text.delta',
        item_id: 'o1',
        output_index: 0,
        content_index: 0,
        delta,
      })),
      { type: 'response.output_item.done', output_index: 0, item: { type: 'message', id: 'o1' } },
      { type: 'response.completed', response: { incomplete_details: null, usage: responsesUsage } },
    ],
  }),
  streamToolCall: ({ name, input }) => {
    const item = { type: 'function_call', id: 'f1', call_id: 'call_1', name };
    return {
      named: true,
      events: [
        { type: 'response.created', response: { id: 'r1', created_at: 1, model: 'm-dated' } },
        { type: 'response.output_item.added', output_index: 0, item: { ...item, arguments: '' } },
        ...halves(input).map((delta) => ({
          type: 'response.function_call_arguments.delta',
          item_id: 'f1',
          output_index: 0,
          delta,
        })),
        {
          type: 'response.output_item.done',
          output_index: 0,
          item: { ...item, arguments: JSON.stringify(input), status: 'completed' },
        },
        { type: 'response.completed', response: { incomplete_details: null, usage: responsesUsage } },
      ],
    };
  },
  error: chat.error,
  streamError: (message) => ({
    named: true,
    events: [
      { type: 'response.created', response: { id: 'r1', created_at: 1, model: 'm-dated' } },
      { type: 'error', sequence_number: 1, code: 'server_error', message, param: null },
    ],
  }),
  toolsOf: (body) => (body.tools ?? []).map(({ name }: { name: string }) => name),
  maxTokensOf: (body) => body.max_output_tokens,
  temperatureOf: (body) => body.temperature,
  // No summary of the thoughts: nobody reads it, and OpenAI refuses one to organizations that it has not verified.
  thinking: {
    model: 'gpt-5',
    of: (body) => body.reasoning,
    off: { effort: 'minimal' },
    low: { effort: 'low' },
    medium: { effort: 'medium' },
    high: { effort: 'high' },
  },
};

const geminiUsage = {
  promptTokenCount: 100,
  cachedContentTokenCount: 30,
  candidatesTokenCount: 20,
  totalTokenCount: 120,
};
const gemini = (parts: unknown[], finishReason: string | null = 'STOP') => ({
  candidates: [{ content: { role: 'model', parts }, finishReason, index: 0 }],
  usageMetadata: geminiUsage,
  modelVersion: 'm-dated',
});
const google: Dialect = {
  type: 'google',
  basePath: '/v1beta',
  path: '/v1beta/models/m-1:generateContent',
  key: (headers) => headers['x-goog-api-key'],
  text: (text) => ({ json: gemini([{ text }]) }),
  toolCall: ({ name, input }) => ({ json: gemini([{ functionCall: { name, args: input } }]) }),
  stream: (deltas) => ({
    events: deltas.map((text, index) => gemini([{ text }], index === deltas.length - 1 ? 'STOP' : null)),
  }),
  streamToolCall: ({ name, input }) => ({ events: [gemini([{ functionCall: { name, args: input } }])] }),
  error: (status, message) => ({ status, json: { error: { code: status, message, status: 'INTERNAL' } } }),
  streamError: (message) => ({
    events: [gemini([{ text: 'a' }], null), { error: { code: 503, message, status: 'UNAVAILABLE' } }],
  }),
  toolsOf: (body) =>
    (body.tools ?? []).flatMap((tool: { functionDeclarations: { name: string }[] }) =>
      tool.functionDeclarations.map(({ name }) => name),
    ),
  maxTokensOf: (body) => body.generationConfig?.maxOutputTokens,
  temperatureOf: (body) => body.generationConfig?.temperature,
  thinking: {
    model: 'gemini-2.5-flash',
    of: (body) => body.generationConfig?.thinkingConfig,
    off: { thinkingBudget: 0 },
    low: { thinkingBudget: 6554 },
    medium: { thinkingBudget: 19_661 },
    high: { thinkingBudget: 24_576 },
  },
};

/** Every provider type that speaks over the network. */
export const DIALECTS: Record<string, Dialect> = {
  anthropic,
  'openai responses': responses,
  'openai chat': { ...chat, type: 'openai', options: { api: 'chat' } },
  azure: {
    ...responses,
    type: 'azure',
    key: (headers) => headers['api-key'],
    // A deployment's name, which says nothing of the model behind it.
    thinking: { ...responses.thinking, model: 'our-thinker', off: undefined },
  },
  google,
  openrouter: { ...chat, type: 'openrouter' },
  ollama: { ...chat, type: 'ollama' },
  openai_compatible: chat,
};
