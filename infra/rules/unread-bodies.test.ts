import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { sourceFiles } from './source-files.ts';

const MAKES_A_SERVER = /import \{[^}]*\bcreateServer\b[^}]*\} from 'node:https?'/;
const READS_WHAT_IS_LEFT = /\bdiscardUnreadBodies\(/;

const mayHang = (text: string) => MAKES_A_SERVER.test(text) && !READS_WHAT_IS_LEFT.test(text);

it('every HTTP server of the product reads what is left of a body that it has answered', () => {
  const repository = join(import.meta.dirname, '../..');
  const found = sourceFiles(repository)
    .filter((file) => /^(services|packages)\/[^/]+\/src\//.test(file) && !file.endsWith('.test.ts'))
    .filter((file) => !file.startsWith('packages/test-kit/'))
    .filter((file) => mayHang(readFileSync(join(repository, file), 'utf8')));
  expect(found).toEqual([]);
});

it('a server that leaves bodies unread is found', () => {
  const made = "import { createServer, type Server } from 'node:http';\nconst server = createServer();";
  expect(mayHang(made)).toBe(true);
  expect(mayHang(`${made}\ndiscardUnreadBodies(server);`)).toBe(false);
  expect(mayHang("import { createServer } from 'node:net';\ncreateServer();")).toBe(false);
});
