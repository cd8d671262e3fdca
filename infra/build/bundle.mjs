// Bundles the service in the current folder to plain JavaScript: src/main.ts -> dist/main.js. `turbo run build` runs
// it, and so do tests, with the folder to write instead of dist, and perhaps one file to bundle to its main.js.
//
// Everything is inlined, npm packages too: a bundled file lies in the service's dist folder, from where pnpm's strict
// layout does not resolve the dependencies of a workspace package. A service's `build.config.json` may add:
//   entries     { "name": "path/to/entry.ts" }  further files, dist/name.js
//   external    ["package"]  packages that cannot be inlined (native code, loaders); the service itself must depend on
//               them
//   migrations  "path/to/folder"  copied to dist/migrations
//   python      "path/to/folder"  packages in Python, copied to dist/python
//   templates   "path/to/folder"  files of projects, copied to dist/templates
import { cp, readFile, rm } from 'node:fs/promises';
import { createRequire, isBuiltin } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ifAbsent } from './if-absent.mjs';
import { compilersInFiles, escapeWideCharacters, findWideTemplates } from './lean-bundles.mjs';
import { filesOfServices } from './service-files.mjs';
import { thinSourceMap } from './thin-source-maps.mjs';

const { build } = createRequire(join(dirname(fileURLToPath(import.meta.url)), '../../package.json'))('esbuild');

/** Optional accelerators: their packages work without them when a `require` of them fails. */
const nativePackages = ['pg-native', 'msgpackr-extract', 'bufferutil', 'utf-8-validate'];
/**
 * Packages that come with the user's project. A copy of ours in the process would break `instanceof` between the two.
 */
const projectPackages = ['@langchain/*'];

const manifest = JSON.parse(await readFile('package.json', 'utf8'));
const config = JSON.parse(await readFile('build.config.json', 'utf8').catch(ifAbsent('{}')));

const [outdir = 'dist', onlyEntry] = process.argv.slice(2);
await rm(outdir, { recursive: true, force: true });
const built = await build({
  entryPoints: onlyEntry ? { main: onlyEntry } : { main: 'src/main.ts', ...config.entries },
  outdir,
  bundle: true,
  platform: 'node',
  target: 'node20',
  format: 'esm',
  // The module builds of packages are smaller and load faster; `require` conditions still serve their CommonJS
  // importers.
  mainFields: ['module', 'main'],
  external: [...nativePackages, ...projectPackages, ...(config.external ?? [])],
  sourcemap: true,
  sourcesContent: false,
  legalComments: 'none',
  plugins: [compilersInFiles(outdir), filesOfServices(outdir)],
  metafile: true,
  logLevel: 'warning',
  // CommonJS packages inside an ES module still `require` node's own modules.
  banner: {
    js: "import { createRequire as __createRequire } from 'node:module';\nconst require = __createRequire(import.meta.url);",
  },
}).catch(() => process.exit(1)); // esbuild has printed the reason.
if (config.migrations) await cp(config.migrations, join(outdir, 'migrations'), { recursive: true });
if (config.python) {
  const filter = (path) => !path.endsWith('__pycache__');
  await cp(config.python, join(outdir, 'python'), { recursive: true, filter });
}
if (config.templates) await cp(config.templates, join(outdir, 'templates'), { recursive: true });
refuse([...findUnresolvable(built.metafile), ...(await findWideTemplates(Object.keys(built.metafile.inputs)))]);
for (const file of Object.keys(built.metafile.outputs)) {
  await (file.endsWith('.map') ? thinSourceMap(file) : escapeWideCharacters(file));
}

/**
 * Finds imports left in the output that do not resolve from dist/ at run time: each has to be a dependency of this very
 * service.
 */
function findUnresolvable(meta) {
  const own = { ...manifest.dependencies, ...manifest.optionalDependencies };
  const faults = new Set();
  for (const [file, output] of Object.entries(meta.outputs)) {
    for (const { path, kind, external } of output.imports) {
      const name = path.split('/', path.startsWith('@') ? 2 : 1).join('/');
      if (!external || isBuiltin(path) || own[name]) continue;
      // esbuild leaves an unresolved `require` only inside a `try`: the package works without it.
      if (kind === 'require-call' && !config.external?.includes(name)) continue;
      faults.add(
        `${file} imports ${path}, which is not inlined: make ${name} a dependency of ${manifest.name}, or do not import it.`,
      );
    }
  }
  return faults;
}

function refuse(faults) {
  if (faults.length === 0) return;
  for (const fault of faults) console.error(fault);
  process.exit(1);
}
