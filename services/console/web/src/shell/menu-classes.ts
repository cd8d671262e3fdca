/** The classes of a menu that opens, and of its entries. */
export const MENU = 'z-50 min-w-48 max-w-[90vw] rounded border border-line bg-card p-1 shadow-lg';
export const MENU_ITEM =
  'flex cursor-pointer items-center gap-2 rounded px-2 py-1.5 outline-none data-[highlighted]:bg-chosen';
