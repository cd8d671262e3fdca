// Generates the Prisma client of the service in the current folder. `turbo run generate` runs it.
//
// Prisma wants to download its schema engine even for `generate`, which does not use it. Naming any existing file as
// that engine keeps the command offline; packages/database applies migrations, and needs no engine either.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

if (!existsSync('prisma/schema.prisma')) process.exit(0); // The service keeps no database of its own (yet).

const require = createRequire(join(process.cwd(), 'package.json'));
const prisma = require.resolve('prisma/build/index.js');
const { status, stdout, stderr, error } = spawnSync(process.execPath, [prisma, 'generate', '--no-hints'], {
  encoding: 'utf8',
  env: {
    ...process.env,
    PRISMA_SCHEMA_ENGINE_BINARY: process.execPath,
    PRISMA_HIDE_UPDATE_MESSAGE: '1',
    CHECKPOINT_DISABLE: '1',
    // prisma.config.ts reads the connection string although generating needs none.
    DATABASE_URL: 'postgresql://localhost/unused',
    DATABASE_URI: 'postgresql://localhost/unused',
  },
});
if (status !== 0) {
  process.stderr.write(`${stdout}${stderr}${error ?? ''}`);
  process.exit(status ?? 1);
}
