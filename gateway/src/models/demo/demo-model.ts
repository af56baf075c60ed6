import { setTimeout as delay } from 'node:timers/promises';
import type { ModelCall, ModelCallOptions, ModelContent, ModelProvider, ModelReply } from '../model.ts';
import { tellInPieces } from '../tell-in-pieces.ts';
import { defaultAnswer } from './default-answer.ts';
import { fill, holds, type ScriptContext } from './fill.ts';
import { type DemoScript, findScript, type FoundScript } from './script.ts';
import { readPrompt } from './read-prompt.ts';

/**
 * The `demo` provider: a script instead of a language model, so that the quickstart and the tests run without a key.
 * Its tool calls are real. The script stands in the agent's soul (or, where the soul has none, in the prompt) as a YAML block:
 *
 *     ```demo
 *     calls:                                # tool calls, one a turn, through policy and tool server like any model's
 *       - tool: machine/read_load           # as in the agent's `tools:`; `input` is a template too
 *         input: {minutes: 5}
 *     answers:                              # the first whose `when` holds; `answer:` is the last resort
 *       - when: {value: results.0.error, exists: true}      # also below, above, equals; all that are given must hold
 *         answer: {confidence: 0.2, summary: "The tool failed: {{results.0.error}}"}
 *     answer:
 *       confidence: {$scale: {value: results.0.load_per_cpu, from: [0, 4], to: [0.95, 0.4]}}
 *       summary: "Load is {{results.0.load}} on {{results.0.cpus}} CPUs"
 *       load: {$value: results.0.load}      # the value itself instead of its text
 *     delay_ms: 200                         # optional, before each turn
 *     ```
 *
 * `results.N` is what call N returned: an object where the tool answered with JSON, else its text; `{error: text}` where it
 * failed or was denied. `input` is the prompt's text. Without a script it answers valid JSON with confidence 0.5 that names the
 * demo provider, and fills the required keys of the `output_schema` with placeholders.
 */
export function createDemoProvider(): ModelProvider {
  const scripts = new ScriptCache();
  return { model: (id) => ({ generate: (call, options) => answer(id, call, options, scripts) }) };
}

async function answer(
  id: string,
  call: ModelCall,
  { signal, onText }: ModelCallOptions,
  scripts: ScriptCache,
): Promise<ModelReply> {
  const { soul, input, results } = readPrompt(call.prompt);
  const found = scripts.find(soul, input);
  const delayMs = found.kind === 'script' ? found.script.delay_ms : 0;
  if (delayMs > 0) await delay(delayMs, undefined, { signal });
  const content = turn(found, { input, results }, call);
  if (content.type === 'text' && onText) await tellInPieces(onText)(content.text);
  return replyOf(id, call, content);
}

const MAX_KNOWN_SCRIPTS = 200;

/** Parsing the YAML on every turn would take most of the time. */
class ScriptCache {
  private readonly known = new Map<string, FoundScript>();

  find(soul: string, input: string): FoundScript {
    const text = soul.includes('```demo') ? soul : input;
    if (!text.includes('```demo')) return { kind: 'none' };
    const known = this.known.get(text);
    if (known) return known;
    const found = findScript(text);
    if (this.known.size >= MAX_KNOWN_SCRIPTS) this.known.clear();
    this.known.set(text, found);
    return found;
  }
}

type Turn = Extract<ModelContent, { type: 'text' | 'tool-call' }>;

function turn(found: FoundScript, context: ScriptContext, call: ModelCall): Turn {
  if (found.kind === 'broken') {
    return textOf({
      ...defaultAnswer(call.answerSchema),
      confidence: 0,
      summary: `The demo script of this agent cannot be read: ${found.message}`,
    });
  }
  if (found.kind === 'none') return textOf(defaultAnswer(call.answerSchema));
  const next = found.script.calls[context.results.length];
  if (next) {
    return {
      type: 'tool-call',
      toolCallId: `demo-${context.results.length}`,
      toolName: exposedName(next.tool, call),
      input: JSON.stringify(fill(next.input, context)),
    };
  }
  return textOf(scriptedAnswer(found.script, context) ?? defaultAnswer(call.answerSchema));
}

function scriptedAnswer(script: DemoScript, context: ScriptContext): unknown {
  const template = script.answers.find(({ when }) => holds(when, context))?.answer ?? script.answer;
  return template === undefined ? null : fill(template, context);
}

/** A script names `server/tool`; the model is offered a name that providers accept. */
function exposedName(tool: string, call: ModelCall): string {
  const folded = tool.replace('/', '__').replace(/[^A-Za-z0-9_-]/g, '_');
  return call.tools.find(({ name }) => name === tool || name === folded)?.name ?? folded;
}

function textOf(answer: unknown): Turn {
  return { type: 'text', text: JSON.stringify(answer) };
}

/** Estimated at four characters a token, so that budgets and charts have values. */
function replyOf(id: string, call: ModelCall, content: Turn): ModelReply {
  const output = content.type === 'text' ? content.text : content.input;
  return {
    content: [content],
    finish: content.type === 'text' ? 'stop' : 'tool-calls',
    usage: { input: Math.ceil(promptChars(call) / 4), output: Math.ceil(output.length / 4), cachedInput: 0 },
    modelId: id,
  };
}

function partChars(parts: readonly object[]): number {
  return parts.reduce((sum, part) => sum + ('text' in part && typeof part.text === 'string' ? part.text.length : 0), 0);
}

function promptChars(call: ModelCall): number {
  return call.prompt.reduce(
    (sum, { content }) => sum + (typeof content === 'string' ? content.length : partChars(content)),
    0,
  );
}
