import Type, { type Static, type TSchema } from 'typebox';
import { FOR_PYTHON, noEffect } from './no-effect.ts';

const forPython = <T extends TSchema>(schema: T): T => noEffect(schema, FOR_PYTHON);

const PythonVersion = Type.String({
  pattern: '^\\d+\\.\\d+$',
  description:
    'Version of Python, like `"3.12"`: 3.11 or newer, without a patch number. Left out: the newest of 3.11 to 3.13 that the platform has. `npm start` and `runyard dev` run a project with the Python of its environment.',
});

const Source = Type.Object(
  {
    kind: Type.Literal('uv', { description: 'The packages are those of `uv.lock`.' }),
    root: Type.Optional(
      Type.String({ default: '.', description: 'Folder of `pyproject.toml` and `uv.lock`, from here.' }),
    ),
    package: Type.Optional(
      Type.String({ minLength: 1, description: 'The member of a uv workspace that is installed.' }),
    ),
  },
  { description: 'Installs exactly what `uv.lock` has, instead of `dependencies`.' },
);

const PipConfigFile = Type.String({
  minLength: 1,
  description: 'Settings of pip, a file of the project. As uv does not read them, pip installs.',
});

const PipInstaller = Type.Union([Type.Literal('auto'), Type.Literal('pip'), Type.Literal('uv')], {
  default: 'auto',
  description: '`auto` is uv where it is there or can be fetched, else pip.',
});

const KeepPkgTools = Type.Union(
  [Type.Boolean(), Type.Array(Type.Union([Type.Literal('pip'), Type.Literal('setuptools'), Type.Literal('wheel')]))],
  {
    description:
      'Tools that the environment of the project has at run time: `true` for `pip`, `setuptools` and `wheel`, or a list of some of them. Left out: none.',
  },
);

/** Keys that only Python projects have. */
export const pythonSections = {
  python_version: Type.Optional(forPython(PythonVersion)),
  source: Type.Optional(forPython(Source)),
  pip_config_file: Type.Optional(forPython(PipConfigFile)),
  pip_installer: Type.Optional(forPython(PipInstaller)),
  keep_pkg_tools: Type.Optional(forPython(KeepPkgTools)),
};

/** The keys of a Python project that say what is installed. */
export const PythonFile = Type.Object({
  ...pythonSections,
  dependencies: Type.Optional(Type.Array(Type.String({ minLength: 1 }))),
});
export type PythonFile = Static<typeof PythonFile>;
