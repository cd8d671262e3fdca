/**
 * Returns null for a file that does not exist: another process may delete it meanwhile, and a stray file is no folder.
 */
export async function ignoreMissing<T>(asked: Promise<T>): Promise<T | null> {
  try {
    return await asked;
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return null;
    throw error;
  }
}
