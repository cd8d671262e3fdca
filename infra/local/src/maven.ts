import { copyFile, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findOnPath } from './find-binary.ts';
import { InfrastructureError } from './infrastructure-error.ts';
import type { ReportStep } from './report-step.ts';
import { runProgram } from './run-program.ts';
import { cachePath, ensureCachedFolder, exists } from './supervision/cache-folder.ts';

/** Returns a file of this package. This code also runs from the launcher's bundle, which lies beside the package. */
export function resolvePackageFile(path: string): string {
  const folder = import.meta.url.endsWith('.ts') ? '../' : '../../local/';
  return fileURLToPath(new URL(folder + path, import.meta.url));
}

/**
 * Returns a folder with the libraries that a pom names, fetched once through Maven, with whatever mirrors and
 * credentials the user's own Maven settings have.
 */
export async function downloadLibraries(options: {
  name: string;
  pom: string;
  environment: NodeJS.ProcessEnv;
  progress: ReportStep;
}): Promise<string> {
  const pom = resolvePackageFile(options.pom);
  return ensureCachedFolder(
    options.name.toLowerCase(),
    await readFile(pom, 'utf8'),
    options.environment,
    async (folder) => {
      const maven = await findOnPath('mvn', options.environment);
      if (!maven) throw new InfrastructureError('Maven (mvn) is not on the PATH');
      // Maven writes beside its pom, so it gets a copy.
      await copyFile(pom, join(folder, 'pom.xml'));
      const downloading = runProgram(
        maven,
        ['--batch-mode', '--quiet', 'dependency:copy-dependencies', `-DoutputDirectory=${folder}`],
        { cwd: folder, env: options.environment, timeoutMs: 300_000 },
      );
      options.progress(`${options.name}: downloading, once`, downloading);
      const copying = await downloading;
      if (!copying.ok)
        throw new InfrastructureError(`Maven could not download it: ${firstError(copying.stdout + copying.stderr)}`);
    },
  );
}

/** Returns whether the libraries that a pom names were fetched already. */
export async function hasLibraries(
  { name, pom }: { name: string; pom: string },
  environment: NodeJS.ProcessEnv,
): Promise<boolean> {
  return exists(cachePath(name.toLowerCase(), await readFile(resolvePackageFile(pom), 'utf8'), environment));
}

function firstError(output: string): string {
  const line = output.split('\n').find((candidate) => candidate.includes('ERROR')) ?? output;
  return line
    .replace(/^.*ERROR\]?\s*/, '')
    .slice(0, 300)
    .trim();
}
