import { chmodSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';

export interface DockerCall {
  /** Arguments without the folder of `--config`, whose name differs each time. */
  args: string[];
  input?: string;
  /** Files in the folder of a build. */
  files?: string[];
  dockerHost?: string;
}

/** Answers like an engine whose registry gives every image the same digest, and records its calls. */
const SCRIPT = `#!${process.execPath}
const { appendFileSync, existsSync, readdirSync, readFileSync, writeFileSync } = require('node:fs');
const { join } = require('node:path');
const here = __dirname;
let args = process.argv.slice(2);
const call = { args, dockerHost: process.env.DOCKER_HOST };
if (args[0] === '--config') args = call.args = ['--config', ...args.slice(2)];
const words = args[0] === '--config' ? args.slice(1) : args;
if (words[0] === 'login' || words.includes('-f')) call.input = readFileSync(0, 'utf8');
if (words.includes('-f')) {
  call.files = readdirSync(words.at(-1), { recursive: true }).sort();
  call.args = [...args.slice(0, -1), '<folder>'];
}
appendFileSync(join(here, 'calls.jsonl'), JSON.stringify(call) + '\\n');
const failures = JSON.parse(readFileSync(join(here, 'failures.json'), 'utf8'));
const failure = failures.findIndex((prefix) => words.join(' ').startsWith(prefix));
if (failure >= 0) {
  failures.splice(failure, 1);
  writeFileSync(join(here, 'failures.json'), JSON.stringify(failures));
  console.error('docker: ' + words[0] + ' is made to fail');
  process.exit(1);
}
if (words.includes('-f')) console.log('Step 1/6 : \\u001b[31mFROM\\u001b[0m');
if (words[0] === 'context') console.log('unix:///run/other.sock');
if (words.join(' ').includes('RepoDigests')) {
  const repository = words.at(-1).replace(/:[^:/]*$/, '');
  console.log(JSON.stringify(['elsewhere@sha256:1', repository + '@sha256:0123']));
}
`;

/** A fake `docker` command for the beginning of a PATH. */
export class FakeDocker {
  readonly folder = mkdtempSync(join(tmpdir(), 'runyard-cli-docker-'));

  constructor() {
    const program = join(this.folder, 'docker');
    writeFileSync(program, SCRIPT);
    chmodSync(program, 0o755);
    writeFileSync(join(this.folder, 'calls.jsonl'), '');
    this.fail();
  }

  /** Makes the next calls that begin like this exit with 1. */
  fail(...beginnings: string[]): void {
    writeFileSync(join(this.folder, 'failures.json'), JSON.stringify(beginnings));
  }

  get path(): string {
    return [this.folder, dirname(process.execPath)].join(delimiter);
  }

  calls(): DockerCall[] {
    const text = readFileSync(join(this.folder, 'calls.jsonl'), 'utf8').trim();
    return text === '' ? [] : text.split('\n').map((line) => JSON.parse(line));
  }
}
