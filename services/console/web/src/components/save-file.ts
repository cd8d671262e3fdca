const TAKEN_MS = 10_000;

/** Hands a file to the browser, which saves it as it saves others. */
export function saveFile(content: Blob, name: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  // The browser has taken the file by then.
  setTimeout(() => URL.revokeObjectURL(link.href), TAKEN_MS);
}
