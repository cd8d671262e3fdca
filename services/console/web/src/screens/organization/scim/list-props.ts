/** A list whose search and page are in the address. */
export interface ListProps {
  q: string | undefined;
  page: number | undefined;
  onPage: (page: number | undefined) => void;
}
