import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { findFaults, readProject } from '@runyard/project';
import { afterAll, describe, expect, it } from 'vitest';
import { InterruptedError } from '../src/cli-error.ts';
import { LANGUAGES, TEMPLATES } from '../src/new/templates.ts';
import { filesBelow, folderWith, removeFolders, runyard } from './support/command.ts';

afterAll(removeFolders);

const KINDS = TEMPLATES.flatMap(({ name: template }) =>
  LANGUAGES.map(({ name: language }) => ({ template, language })),
);
const parent = () => folderWith('parent', {});
const flagsOf = ({ template, language }: (typeof KINDS)[number]) => ['--template', template, '--language', language];

describe.each(KINDS)('a project from $template in $language', (kind) => {
  it('is one that nothing keeps from starting', async () => {
    const cwd = parent();
    const made = await runyard(['new', 'My Agent', ...flagsOf(kind)], { cwd });
    expect(made).toMatchObject({ exitCode: 0, err: '', out: expect.stringContaining("cd 'My Agent'\n") });
    const folder = join(cwd, 'My Agent');
    const project = await readProject(folder, 'langgraph.json');
    expect(await findFaults(project, async () => undefined)).toEqual([]);
    // The file with the key of a real model comes later.
    expect(project).toMatchObject({ warnings: [], missingEnvFile: join(folder, '.env') });

    const files = filesBelow(folder);
    expect(files).toEqual(expect.arrayContaining(['.env.example', '.gitignore', 'README.md', 'langgraph.json']));
    expect(readFileSync(join(folder, '.gitignore'), 'utf8')).toMatch(/^\.env$/m);
    const placeholders = files.filter((file) => /\{\{|\}\}$/m.test(readFileSync(join(folder, file), 'utf8')));
    expect(placeholders).toEqual([]);
    const readme = readFileSync(join(folder, 'README.md'), 'utf8');
    expect(readme).toMatch(/^# my-agent\n/);
    expect(readme).toContain("cd 'My Agent'\n");
    for (const [, file] of readme.matchAll(/^\| `([^`]+)` \|/gm))
      expect([file, existsSync(join(folder, file!))]).toEqual([file, true]);
  });
});

it('templates in JavaScript have the releases that this repository runs', () => {
  const root = join(import.meta.dirname, '../../..');
  const workspace = readFileSync(join(root, 'pnpm-workspace.yaml'), 'utf8');
  const catalog = [...workspace.matchAll(/^ {2}"?([^\s"]+)"?: (\S+)$/gm)].map(([, name, version]) => [name, version]);
  const fixture = JSON.parse(readFileSync(join(root, 'hosts/javascript/fixtures/agents/package.json'), 'utf8'));
  const known: Record<string, string> = { ...fixture.dependencies, ...Object.fromEntries(catalog) };
  for (const { name } of TEMPLATES) {
    const { dependencies } = JSON.parse(
      readFileSync(join(root, `packages/cli/templates/javascript/${name}/package.json`), 'utf8'),
    );
    const others = Object.entries(dependencies).filter(([each, version]) => known[each] !== version);
    expect([name, others]).toEqual([name, []]);
  }
});

it.each(['absent', 'empty', 'empty but for .git'])('a folder that is %s gets a project', async (state) => {
  const cwd = parent();
  const folder = join(cwd, 'agent');
  if (state !== 'absent') mkdirSync(folder);
  if (state.endsWith('.git')) mkdirSync(join(folder, '.git'));
  expect(await runyard(['new', 'agent', '-t', 'retrieval', '-l', 'js'], { cwd })).toMatchObject({ exitCode: 0 });
  expect(JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))).toMatchObject({ name: 'agent' });
  expect(
    readdirSync(folder)
      .filter((name) => name.startsWith('.'))
      .sort(),
  ).toEqual([...(state.endsWith('.git') ? ['.git'] : []), '.env.example', '.gitignore'].sort());
});

it('this very folder may be named, and needs no step into it', async () => {
  const cwd = folderWith('here', {});
  const { exitCode, out } = await runyard(['new', '.', '-t', 'react-agent', '-l', 'python'], { cwd });
  expect([exitCode, out.includes('cd ')]).toEqual([0, false]);
  expect(existsSync(join(cwd, 'agent/graph.py'))).toBe(true);
});

describe('nothing is written over', () => {
  it('where a folder has files', async () => {
    const cwd = folderWith('parent', { 'agent/README.md': 'mine' });
    expect(await runyard(['new', 'agent', '-t', 'react-agent', '-l', 'js'], { cwd })).toMatchObject({
      exitCode: 2,
      err: expect.stringContaining('is not empty (README.md is in it)'),
    });
    expect(filesBelow(cwd)).toEqual(['agent/README.md']);
  });

  it('where a file or a link to nowhere has the name', async () => {
    const cwd = folderWith('parent', { agent: 'a file' });
    symlinkSync(join(cwd, 'nowhere'), join(cwd, 'link'));
    expect((await runyard(['new', 'agent', '-t', 'react-agent', '-l', 'js'], { cwd })).exitCode).toBe(2);
    expect(await runyard(['new', 'link', '-t', 'react-agent', '-l', 'js'], { cwd })).toMatchObject({
      exitCode: 1,
      err: expect.stringContaining('cannot be written'),
    });
    expect(readdirSync(cwd).sort()).toEqual(['agent', 'link']);
  });

  it('and an interrupted command leaves nothing, not even the folders above', async () => {
    const cwd = parent();
    const interrupted = AbortSignal.abort(new InterruptedError('SIGINT'));
    const args = ['new', 'deep/below/agent', '-t', 'react-agent', '-l', 'js'];
    expect((await runyard(args, { cwd, interrupted })).exitCode).toBe(130);
    expect(readdirSync(cwd)).toEqual([]);
  });
});

describe('what the command line does not say', () => {
  it.each([
    [[], 'runyard new DIR'],
    [['agent'], '--template: react-agent, retrieval, deep-agent, custom-auth'],
    [['agent', '-t', 'retrieval'], '--language: js, python'],
  ])('is named where nobody can be asked: %j', async (args, said) => {
    const cwd = parent();
    expect(await runyard(['new', ...args], { cwd })).toMatchObject({ exitCode: 2, err: expect.stringContaining(said) });
    expect(readdirSync(cwd)).toEqual([]);
  });

  it('is asked for at a terminal, again after an answer that is none, and nothing is the first', async () => {
    const cwd = parent();
    const stdin = Object.assign(new PassThrough(), { isTTY: true });
    const making = runyard(['new'], { cwd, stdin });
    // A question reads what is there when it is asked.
    const timer = setInterval(() => stdin.write(answers.shift() ?? ''), 20);
    const answers = ['agent\n', 'none\n', '2\n', '\n'];
    const { exitCode, err } = await making;
    clearInterval(timer);
    expect([exitCode, err]).toEqual([0, expect.stringMatching(/1 {2}react-agent[\s\S]*1 {2}js/)]);
    expect(existsSync(join(cwd, 'agent/src/embeddings.ts'))).toBe(true);
  });

  it('is listed by --list, one line each', async () => {
    const { exitCode, out } = await runyard(['new', '--list']);
    expect([exitCode, out.trim().split('\n')]).toEqual([0, expect.objectContaining({ length: 2 + TEMPLATES.length })]);
  });
});

it('an unknown template is a wrong use that names those there are', async () => {
  expect(await runyard(['new', 'agent', '-t', 'nothing'])).toMatchObject({
    exitCode: 2,
    err: expect.stringContaining('Allowed choices are react-agent, retrieval, deep-agent, custom-auth'),
  });
});
