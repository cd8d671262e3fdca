import { spawn } from 'node:child_process';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { LocalServer } from './local-server.ts';

/** Serves the repositories of a folder over HTTP, with `git http-backend`, git's own server. It requires the token. */
export class GitServer extends LocalServer {
  readonly #folder: string;
  readonly #expected: string;
  /** Called while git waits for an answer. */
  onRequest: () => void = () => {};

  private constructor(folder: string, token: string) {
    super();
    this.#folder = folder;
    this.#expected = `Basic ${Buffer.from(`x-access-token:${token}`).toString('base64')}`;
  }

  static open(folder: string, token: string): Promise<GitServer> {
    return new GitServer(folder, token).listening();
  }

  protected override answer(req: IncomingMessage, res: ServerResponse): void {
    this.onRequest();
    if (req.headers.authorization !== this.#expected) {
      // Some servers repeat the request's credentials.
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
    backend.stdin.on('error', () => {}); // The backend may answer before it has read all.
    req.pipe(backend.stdin);
    const chunks: Buffer[] = [];
    backend.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
    backend.once('close', () => reply(res, Buffer.concat(chunks)));
  }
}

/** Sends a CGI program's answer: headers, an empty line, the body. */
function reply(res: ServerResponse, answer: Buffer): void {
  const end = answer.indexOf('\r\n\r\n');
  for (const line of answer.subarray(0, end).toString().split('\r\n')) {
    const [name = '', value = ''] = line.split(/: */, 2);
    if (name.toLowerCase() === 'status') res.statusCode = Number.parseInt(value, 10);
    else res.setHeader(name, value);
  }
  res.end(answer.subarray(end + 4));
}
