import type { VersionUse } from './uses.ts';

export interface WantedVersion {
  agent: string;
  version: string;
}

/** What the gateway says of an agent, or why it says nothing. */
export type AgentAnswer =
  | { kind: 'found'; version: string; soulMd: string; agentYaml: string }
  | { kind: 'unknown' }
  | { kind: 'not_configured' }
  | { kind: 'unreachable'; message: string };

export interface FoundTexts extends WantedVersion {
  texts: { soulMd: string; agentYaml: string } | null;
  /** Why there are no texts. */
  note: string | null;
  /** Whether they may be had another time. */
  wanted: boolean;
}

export interface AgentTextsDeps {
  wanted(limit: number): Promise<WantedVersion[]>;
  ask(agent: string): Promise<AgentAnswer>;
  keep(found: readonly FoundTexts[]): Promise<void>;
  /** Calls back once; answers how to call that off. */
  later(milliseconds: number, call: () => void): () => void;
  log: { warn(fields: object, message: string): void };
}

export interface AgentTexts {
  /** Editions that were just stored: texts of versions that are new are fetched. */
  heard(uses: readonly VersionUse[]): void;
  /** Fetches what earlier starts could not. */
  start(): void;
  stop(): void;
}

/** Versions that one round asks for. */
const AT_ONCE = 50;
const RETRY_MS = 60_000;

/** What an answer means for one version of the agent. */
export function textsFrom(wanted: WantedVersion, answer: AgentAnswer): FoundTexts {
  const none = { ...wanted, texts: null };
  switch (answer.kind) {
    case 'found': {
      const { version, soulMd, agentYaml } = answer;
      if (version === wanted.version) return { ...wanted, texts: { soulMd, agentYaml }, note: null, wanted: false };
      return {
        ...none,
        note: `The agent had changed to version ${version} before the text of this one was read.`,
        wanted: false,
      };
    }
    case 'unknown':
      return {
        ...none,
        note: 'The gateway had no agent of this name any more when it was asked for its text.',
        wanted: false,
      };
    case 'not_configured':
      return {
        ...none,
        note: 'executors.gateway.rest_url is not set, so the texts of agents cannot be read.',
        wanted: true,
      };
    case 'unreachable':
      return { ...none, note: `The gateway could not be asked yet. ${answer.message}`, wanted: true };
    default:
      return answer satisfies never;
  }
}

/** Fetches the texts behind agents' versions in the background, one agent after the other; no run knows of it. */
export function createAgentTexts(deps: AgentTextsDeps): AgentTexts {
  const state = { working: false, again: false, stopped: false, callOff: (): void => undefined };

  const work = async (): Promise<void> => {
    state.working = true;
    state.callOff();
    try {
      do {
        state.again = false;
        const outcome = await round(deps, () => state.stopped);
        if (outcome === 'more') state.again = true;
        if (outcome === 'later') retry();
      } while (state.again && !state.stopped);
    } catch (error) {
      deps.log.warn({ err: error }, "texts of agents' versions could not be kept; they are asked for again");
      retry();
    } finally {
      state.working = false;
    }
  };
  const retry = () => {
    state.callOff();
    if (!state.stopped) state.callOff = deps.later(RETRY_MS, wake);
  };
  const wake = () => {
    state.again = true;
    if (!state.working && !state.stopped) void work();
  };
  return {
    heard: (uses) => {
      if (uses.some(({ executor, agent_version: version }) => executor === 'gateway' && version !== '')) wake();
    },
    start: wake,
    stop: () => {
      state.stopped = true;
      state.callOff();
    },
  };
}

/** `later`: the gateway does not answer; `more`: there may be others. */
async function round(deps: AgentTextsDeps, isStopped: () => boolean): Promise<'done' | 'more' | 'later'> {
  const wanted = await deps.wanted(AT_ONCE);
  for (const [agent, versions] of Map.groupBy(wanted, (version) => version.agent)) {
    const answer = await deps.ask(agent);
    if (isStopped()) return 'done';
    await deps.keep(versions.map((version) => textsFrom(version, answer)));
    if (answer.kind === 'not_configured') {
      await deps.keep(wanted.map((version) => textsFrom(version, answer)));
      return 'done';
    }
    if (answer.kind === 'unreachable') return 'later';
  }
  return wanted.length === AT_ONCE ? 'more' : 'done';
}
