import { spawn } from 'node:child_process';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Repositories of a folder over HTTP, for those who show the token: what `git http-backend` says, which is git's own server. */
export class GitServer {
  readonly #folder: string;
  readonly #expected: string;
  readonly #server: Server;
  /** Called while git waits for an answer. */
  onRequest: () => void = () => {};

  private constructor(folder: string, token: string) {
    this.#folder = folder;
    this.#expected = `Basic ${Buffer.from(`x-access-token:${token}`).toString('base64')}`;
    this.#server = createServer((req, res) => this.#answer(req, res));
  }

  static async open(folder: string, token: string): Promise<GitServer> {
    const server = new GitServer(folder, token);
    await new Promise<void>((resolve) => server.#server.listen(0, '127.0.0.1', resolve));
    return server;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #answer(req: IncomingMessage, res: ServerResponse): void {
    this.onRequest();
    if (req.headers.authorization !== this.#expected) {
      // Some servers repeat what they were told.
      res.writeHead(401, { 'www-authenticate': 'Basic realm="git"', 'content-type': 'text/plain' });
      res.end(`refused: ${req.headers.authorization}\n`);
      return;
    }
    const { pathname, searchParams } = new URL(req.url ?? '', this.url);
    const backend = spawn('git', ['http-backend'], {
      env: {
        PATH: process.env.PATH,
        GIT_PROJECT_ROOT: this.#folder,
        GIT_HTTP_EXPORT_ALL: '1',
        GIT_CONFIG_COUNT: '1',
        GIT_CONFIG_KEY_0: 'safe.directory',
        GIT_CONFIG_VALUE_0: '*',
        PATH_INFO: pathname,
        QUERY_STRING: searchParams.toString(),
        REQUEST_METHOD: req.method ?? 'GET',
        CONTENT_TYPE: req.headers['content-type'] ?? '',
        HTTP_CONTENT_ENCODING: req.headers['content-encoding'] ?? '',
        HTTP_GIT_PROTOCOL: String(req.headers['git-protocol'] ?? ''),
      },
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    backend.stdin.on('error', () => {}); // It may answer without reading all.
    req.pipe(backend.stdin);
    const chunks: Buffer[] = [];
    backend.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
    backend.once('close', () => reply(res, Buffer.concat(chunks)));
  }
}

/** A CGI program's answer: headers, an empty line, the body. */
function reply(res: ServerResponse, answer: Buffer): void {
  const end = answer.indexOf('\r\n\r\n');
  for (const line of answer.subarray(0, end).toString().split('\r\n')) {
    const [name = '', value = ''] = line.split(/: */, 2);
    if (name.toLowerCase() === 'status') res.statusCode = Number.parseInt(value, 10);
    else res.setHeader(name, value);
  }
  res.end(answer.subarray(end + 4));
}
