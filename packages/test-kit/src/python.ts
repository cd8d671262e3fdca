/** Programs and tests in Python, with packages in an environment of their own. */
export { findPython, packagesOf, preparePython } from './python/prepare-python.ts';
export { startPublicPythonServer } from './python/public-server.ts';
export { type PythonTest, runPytest } from './python/run-pytest.ts';
export { runProgram } from './run-program.ts';
