import { createHash, randomBytes } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { extname, join, relative } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';

const TYPES: Record<string, string> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
};

/** A file of the pages. */
interface PageFile {
  bytes: Buffer;
  type: string;
  etag: string;
  /** Made when it is first asked for. */
  gzipped?: Promise<Buffer>;
}

/** Addresses of pages, which `router.tsx` tells apart. */
const OF_A_PAGE = /^\/(w\/.*|signed-out)?$/;
/** Stands in the document for the value that lets a page add its own styles, which is another one each time. */
const NONCE = '%CSP_NONCE%';
const A_YEAR = 'public, max-age=31536000, immutable';

/** Files of the console's pages: a document for all of them, and what it loads, whose names change with the content. */
export class PageFiles {
  readonly #files: ReadonlyMap<string, PageFile>;
  readonly #document: string;
  readonly #policy: (nonce: string) => string;

  private constructor(files: ReadonlyMap<string, PageFile>, document: string, platformOrigin: string) {
    this.#files = files;
    this.#document = document;
    this.#policy = (nonce) => contentPolicy(nonce, platformOrigin);
  }

  /**
   * Reads all files of a folder.
   *
   * @param platformOrigin where people sign out: the only other site to which a page may lead by a form
   * @throws Error when they have not been built
   */
  static async read(folder: string, platformOrigin: string): Promise<PageFiles> {
    const entries = await readdir(folder, { recursive: true, withFileTypes: true });
    const files = new Map<string, PageFile>();
    for (const entry of entries) {
      const path = join(entry.parentPath, entry.name);
      if (!entry.isFile() || relative(folder, path).startsWith('.')) continue;
      const bytes = await readFile(path);
      const etag = `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"`;
      files.set(`/${relative(folder, path)}`, {
        bytes,
        type: TYPES[extname(path)] ?? 'application/octet-stream',
        etag,
      });
    }
    const document = files.get('/index.html');
    if (!document?.bytes.includes(NONCE)) throw new Error(`There are no pages in ${folder}: build the console`);
    files.delete('/index.html');
    return new PageFiles(files, document.bytes.toString(), platformOrigin);
  }

  /** Answers GET and HEAD: a file, or the document for every path of a page. @returns false for what is neither */
  async send(req: IncomingMessage, res: ServerResponse, path: string): Promise<boolean> {
    const file = this.#files.get(path);
    if (!file && !OF_A_PAGE.test(path)) return false;
    if (!file) this.#sendDocument(req, res);
    else await sendFile(req, res, file, path.startsWith('/assets/') ? A_YEAR : 'no-cache');
    return true;
  }

  #sendDocument(req: IncomingMessage, res: ServerResponse): void {
    const nonce = randomBytes(16).toString('base64url');
    const bytes = Buffer.from(this.#document.replaceAll(NONCE, nonce));
    res.writeHead(200, {
      'content-type': TYPES['.html'],
      'content-length': bytes.byteLength,
      'content-security-policy': this.#policy(nonce),
      'cache-control': 'no-store',
      ...PAGE_HEADERS,
    });
    res.end(req.method === 'HEAD' ? undefined : bytes);
  }
}

const PAGE_HEADERS = {
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=()',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
};

/** Pages load nothing from elsewhere, ask nobody else, and run no script but their own files. */
function contentPolicy(nonce: string, platformOrigin: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "connect-src 'self'",
    "img-src 'self' data:",
    "font-src 'self'",
    "worker-src 'self'",
    `form-action 'self' ${platformOrigin}`,
    "base-uri 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    'trusted-types runyard-worker',
  ].join('; ');
}

async function sendFile(
  req: IncomingMessage,
  res: ServerResponse,
  file: PageFile,
  cacheControl: string,
): Promise<void> {
  const headers: Record<string, string | number> = {
    'content-type': file.type,
    'cache-control': cacheControl,
    etag: file.etag,
    vary: 'accept-encoding',
    ...PAGE_HEADERS,
  };
  if (req.headers['if-none-match'] === file.etag) {
    res.writeHead(304, headers).end();
    return;
  }
  const isGzip = /\bgzip\b/.test(String(req.headers['accept-encoding'] ?? '')) && file.type !== TYPES['.woff2'];
  if (isGzip) file.gzipped ??= promisify(gzip)(file.bytes, { level: 9 }) as Promise<Buffer>;
  const bytes = isGzip ? await file.gzipped! : file.bytes;
  if (isGzip) headers['content-encoding'] = 'gzip';
  res.writeHead(200, { ...headers, 'content-length': bytes.byteLength });
  res.end(req.method === 'HEAD' ? undefined : bytes);
}
