/** Returns what to do with the error of reading a file: one that is not there has this value. */
export function ifAbsent(value) {
  return (error) => {
    if (error.code === 'ENOENT') return value;
    throw error;
  };
}
