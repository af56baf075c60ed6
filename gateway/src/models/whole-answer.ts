/** The part of `Headers` that the provider SDKs read: lower-case names, one value each. */
class AnswerHeaders extends Map<string, string> {
  override get(name: string): string | undefined {
    return super.get(name) ?? super.get(name.toLowerCase());
  }
}

type GivenHeaders = Record<string, string | string[] | undefined>;

const UTF8 = new TextDecoder();

/**
 * A response that has arrived whole. Provider SDKs read a `Response` through a reader and its headers; building the real one
 * costs more than a fifth of what an agent run adds to a model's answer, so this is those parts and nothing else.
 */
export class WholeAnswer {
  readonly ok: boolean;
  readonly status: number;
  readonly statusText = '';
  private readonly given: GivenHeaders;
  private read: AnswerHeaders | null = null;
  private readonly bytes: Uint8Array<ArrayBuffer>;

  constructor(status: number, headers: GivenHeaders, bytes: Uint8Array<ArrayBuffer>) {
    this.ok = status >= 200 && status < 300;
    this.status = status;
    this.bytes = bytes;
    this.given = headers;
  }

  get headers(): AnswerHeaders {
    this.read ??= new AnswerHeaders(
      Object.entries(this.given).flatMap(([name, value]): [string, string][] =>
        value === undefined ? [] : [[name, typeof value === 'string' ? value : value.join(', ')]],
      ),
    );
    return this.read;
  }

  get body() {
    let rest: Uint8Array | undefined = this.bytes;
    const read = async () => {
      const value = rest;
      rest = undefined;
      return value === undefined ? { done: true, value } : { done: false, value };
    };
    return { getReader: () => ({ read, cancel: async () => {}, releaseLock: () => {} }), cancel: async () => {} };
  }

  async text(): Promise<string> {
    return UTF8.decode(this.bytes);
  }

  async json(): Promise<unknown> {
    return JSON.parse(await this.text());
  }

  async arrayBuffer(): Promise<ArrayBuffer> {
    return this.bytes.slice().buffer;
  }
}
