import { connect, type Socket } from 'node:net';

export interface HttpAnswer {
  status: number;
  body: string;
}

/**
 * One kept-alive HTTP/1.1 connection for JSON posts, nothing more: load generator, service and gateway share the cores, so
 * what the generator takes is missing elsewhere. Against an empty handler on two cores it took 11 us of CPU a request and
 * reached 71,000/s, autocannon 24 us and 40,000/s.
 */
export class HttpConnection {
  readonly #socket: Socket;
  readonly #head: string;
  #received = '';
  #waiting: { resolve: (answer: HttpAnswer) => void; reject: (error: Error) => void } | undefined;

  private constructor(socket: Socket, head: string) {
    this.#socket = socket;
    this.#head = head;
    socket.setEncoding('latin1').on('data', (text: string) => this.#receive(text));
    socket.on('error', (error) => this.#fail(error)).on('close', () => this.#fail(new Error('connection closed')));
  }

  static async open(url: string, token: string): Promise<HttpConnection> {
    const { hostname, port, host, pathname, search } = new URL(url);
    const socket = connect({ host: hostname, port: Number(port), noDelay: true });
    await new Promise((resolve, reject) => socket.once('connect', resolve).once('error', reject));
    const head = `POST ${pathname}${search} HTTP/1.1\r\nhost: ${host}\r\nauthorization: Bearer ${token}\r\ncontent-type: application/json\r\n`;
    return new HttpConnection(socket, head);
  }

  /** Sends an ASCII body; one request at a time. Rejects where the connection breaks before the answer. */
  post(body: string): Promise<HttpAnswer> {
    return new Promise((resolve, reject) => {
      if (this.#socket.destroyed) return reject(new Error('connection closed'));
      this.#waiting = { resolve, reject };
      this.#socket.write(`${this.#head}content-length: ${body.length}\r\n\r\n${body}`, 'latin1');
    });
  }

  close(): void {
    this.#socket.destroy();
  }

  #receive(text: string): void {
    this.#received += text;
    const end = this.#received.indexOf('\r\n\r\n');
    if (end < 0) return;
    const length = /\r\ncontent-length: (\d+)/i.exec(this.#received.slice(0, end))?.[1];
    if (length === undefined)
      return this.#fail(new Error(`an answer without content-length: ${this.#received.slice(0, end)}`));
    const stop = end + 4 + Number(length);
    if (this.#received.length < stop) return;
    const answer = { status: Number(this.#received.slice(9, 12)), body: this.#received.slice(end + 4, stop) };
    this.#received = this.#received.slice(stop);
    this.#waiting?.resolve(answer);
    this.#waiting = undefined;
  }

  #fail(error: Error): void {
    this.#waiting?.reject(error);
    this.#waiting = undefined;
  }
}
