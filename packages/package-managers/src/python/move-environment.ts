import { quote } from './shell.ts';

/**
 * Rewrites, relative to themselves, the paths of those files by which packages that are installed in place are found:
 * lines of `.pth` files, and the texts of modules that setuptools writes for packages with other names than folders.
 */
const REWRITE = `
import os, pathlib, sys
coding = {"encoding": "utf-8", "errors": "surrogateescape"}
root = os.path.realpath(sys.argv[1])
for site in pathlib.Path(".venv").glob("lib/python*/site-packages"):
    back = os.path.relpath(root, os.path.realpath(site))
    for file in site.glob("*.pth"):
        lines = file.read_text(**coding).splitlines()
        moved = [back + line[len(root):] if (line + "/").startswith(root + "/") else line for line in lines]
        if moved != lines:
            file.write_text("\\n".join(moved) + "\\n", **coding)
    for file in site.glob("__editable__*_finder.py"):
        text = file.read_text(**coding)
        here = '__import__("os").path.normpath(__import__("os").path.dirname(__file__) + %r)' % ("/" + back)
        file.write_text(text.replace("'" + root + "/", here + " + '/").replace("'" + root + "'", here), **coding)
`;

/**
 * Returns the command that makes the environment `.venv` of the current folder valid wherever the source lies, and
 * compiles it. Its interpreter stays where it is. Code is compiled by content, as copies of it have other times.
 *
 * @param python that of the environment's version, which runs none of its code
 * @param root of the source
 */
export function moveCommand(python: string, root: string): string {
  const compile = `-I -m compileall -q -j 0 --invalidation-mode checked-hash .venv/lib`;
  // Packages may contain files that are no Python of this version.
  return `${quote(python)} -I -S -c ${quote(REWRITE)} ${quote(root)} && { ${quote(python)} ${compile} >/dev/null 2>&1 || true; }`;
}
