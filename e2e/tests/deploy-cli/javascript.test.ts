import { describe } from 'vitest';
import { javascriptCli } from '../../harness/official-cli.ts';
import { deploys } from './deploy-command.ts';

describe('the official langgraphjs command', () => deploys(javascriptCli, 'deployed-by-js'));
