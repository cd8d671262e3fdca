import { describe, expect, it } from 'vitest';
import { splitStatements } from './sql-statements.ts';

describe('splitStatements', () => {
  it('splits at semicolons that end a statement and nowhere else', () => {
    const script = `
      -- a comment; with a semicolon
      SELECT ';' || ";", 'it''s; fine', E'\\';';
      /* outer ; /* nested ; */ still ; */ SELECT 2;
      DO $do$ BEGIN RAISE NOTICE $$;$$; END $do$;
      SELECT $1;;
      -- the end;`;
    expect(splitStatements(script)).toEqual([
      `-- a comment; with a semicolon\n      SELECT ';' || ";", 'it''s; fine', E'\\';'`,
      '/* outer ; /* nested ; */ still ; */ SELECT 2',
      'DO $do$ BEGIN RAISE NOTICE $$;$$; END $do$',
      'SELECT $1',
    ]);
  });
});
