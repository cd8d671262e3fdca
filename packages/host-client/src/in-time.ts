/** Returns the answer of the child, or rejects with the error when it takes longer. */
export async function inTime<T>(answer: Promise<T>, ms: number, toError: () => Error): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(toError()), ms);
  });
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
  }
}
