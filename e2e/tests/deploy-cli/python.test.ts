import { describe } from 'vitest';
import { pythonCli } from '../../harness/official-cli.ts';
import { deploys } from './deploy-command.ts';

describe('the official langgraph command, of Python,', () => deploys(pythonCli, 'deployed-by-python'));
