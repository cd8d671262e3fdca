/**
 * Returns whether a text matches a pattern in which `*` stands for any text and `?` for one character. It goes back to
 * the last `*` alone, so that no pattern takes longer than the product of the two lengths.
 */
export function matchesGlob(pattern: string, text: string): boolean {
  const [wanted, given] = [[...pattern], [...text]];
  let [at, position] = [0, 0];
  let star = -1;
  let starPosition = 0;
  while (position < given.length) {
    if (wanted[at] === '*') {
      star = at;
      starPosition = position;
      at += 1;
    } else if (at < wanted.length && (wanted[at] === '?' || wanted[at] === given[position])) {
      at += 1;
      position += 1;
    } else if (star >= 0) {
      starPosition += 1;
      position = starPosition;
      at = star + 1;
    } else return false;
  }
  while (wanted[at] === '*') at += 1;
  return at === wanted.length;
}
