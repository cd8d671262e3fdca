import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { folderWith, removeFolders, runyard } from './support/command.ts';

afterAll(removeFolders);

let folder: string;
beforeAll(async () => {
  folder = folderWith('completion', { 'a-file.txt': '' });
  for (const shell of ['bash', 'zsh', 'fish']) {
    const { exitCode, out, err } = await runyard(['completion', shell]);
    expect([shell, exitCode, err]).toEqual([shell, 0, '']);
    writeFileSync(join(folder, shell), out);
  }
});

/** Programs that print what a shell offers at the end of a line, one word a line. */
const SHELLS = {
  bash: `source ./bash
    set -f; COMP_LINE=$1; read -ra COMP_WORDS <<< "\${1//=/ = }"; [[ $1 == *' ' || $1 == *= ]] && COMP_WORDS+=('')
    COMP_CWORD=$(( \${#COMP_WORDS[@]} - 1 )); _runyard; printf '%s\\n' "\${COMPREPLY[@]}"`,
  fish: 'source ./fish; complete -C $argv[1] | string replace -r "\\t.*" ""',
} as const;

/** Returns whether a shell is on this machine: bash is on all of them. */
async function isHere(shell: string): Promise<boolean> {
  return promisify(execFile)(shell, ['-c', 'true']).then(
    () => true,
    () => false,
  );
}
const here: (keyof typeof SHELLS)[] = [];
for (const shell of ['bash', 'fish'] as const) if (await isHere(shell)) here.push(shell);

describe.each(here)('%s offers', (shell) => {
  async function offered(line: string): Promise<string[]> {
    const args = shell === 'bash' ? ['--norc', '-c', SHELLS.bash, 'bash', line] : ['-N', '-c', SHELLS.fish, line];
    const { stdout, stderr } = await promisify(execFile)(shell, args, { cwd: folder });
    expect(stderr).toBe('');
    return stdout.split('\n').filter(Boolean);
  }

  it.each([
    ['runyard ', ['new', 'deploy', 'dev', 'doctor', 'completion']],
    ['runyard d', ['deploy', 'dev', 'doctor']],
    ['runyard deploy ', ['list', 'logs', 'revisions']],
    ['runyard --verbose deploy revisions ', ['list']],
    ['runyard deploy budgets ', ['list', 'add', 'change', 'remove']],
    ['runyard completion ', ['bash', 'fish', 'zsh']],
  ])('commands, and words that arguments may be: %s', async (line, words) => {
    expect(await offered(line)).toEqual(expect.arrayContaining(words));
  });

  it.each([
    ['runyard new --t', ['--template'], '--timeout'],
    ['runyard deploy --', ['--remote', '--no-remote', '--timeout'], '--template'],
    ['runyard deploy --name list --no', ['--no-wait'], '--level'],
    ['runyard deploy logs --', ['--level', '--follow'], '--remote'],
    ['runyard dev --port 1 --', ['--kafka'], '--json'],
  ])('options of the command that the words before name, and of no other: %s', async (line, options, other) => {
    const words = await offered(line);
    expect(words).toEqual(expect.arrayContaining(options));
    expect(words).not.toContain(other);
  });

  it.each([
    ['runyard new --template ', ['react-agent', 'retrieval', 'deep-agent', 'custom-auth']],
    ['runyard new -t re', ['react-agent', 'retrieval']],
    ['runyard deploy --deployment-type p', ['prod']],
    ['runyard deploy budgets add --per ', ['workspace', 'deployment', 'assistant', 'creator', 'key']],
    ['runyard deploy budgets change --refuse-with ', ['402', '429']],
  ])('values of options: %s', async (line, values) => {
    expect((await offered(line)).sort()).toEqual([...values].sort());
  });

  it('values behind an equals sign', async () => {
    const words = await offered('runyard new --language=p');
    expect(words.map((word) => word.replace('--language=', ''))).toEqual(['python']);
  });
});

it('bash falls back to files where anything may be said', async () => {
  const script = `source ./bash; complete -p runyard; COMP_WORDS=(runyard dev --project a); COMP_CWORD=3; _runyard; echo "\${#COMPREPLY[@]}"`;
  const { stdout } = await promisify(execFile)('bash', ['--norc', '-c', script], { cwd: folder });
  expect(stdout.trim().split('\n')).toEqual(['complete -o default -F _runyard runyard', '0']);
});

it('an unknown shell is a wrong use that names those there are', async () => {
  expect(await runyard(['completion', 'tcsh'])).toMatchObject({
    exitCode: 2,
    err: expect.stringContaining('Allowed choices are bash, zsh, fish'),
  });
});
