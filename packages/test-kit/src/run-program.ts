import { spawn } from 'node:child_process';

/** Runs a program to its end and returns all its output. */
export async function runProgram(
  command: string,
  args: string[],
  { variables = {}, cwd }: { variables?: Record<string, string>; cwd?: string } = {},
): Promise<{ code: number | null; output: string }> {
  const env = { ...process.env, ...variables };
  const child = spawn(command, args, { env, stdio: ['ignore', 'pipe', 'pipe'], ...(cwd !== undefined && { cwd }) });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
  const code = await new Promise<number | null>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', resolve);
  });
  return { code, output };
}
