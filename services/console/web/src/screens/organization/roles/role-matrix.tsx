import type { PermissionMeaning, Role } from '@runyard/contracts';

/** Roles against what they may do. It scrolls within itself where the window is narrow. */
export function RoleMatrix({
  caption,
  roles,
  permissions,
}: {
  caption: string;
  roles: readonly Role[];
  permissions: readonly PermissionMeaning[];
}) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by the keyboard
    <section tabIndex={0} aria-label={caption} className="overflow-x-auto rounded border border-line bg-card">
      <table className="text-left">
        <caption className="sr-only">{caption}</caption>
        <thead className="text-xs">
          <tr className="border-b border-line">
            <th scope="col" className="sticky left-0 bg-card px-3 py-2 font-semibold text-faint max-sm:max-w-36">
              Permission
            </th>
            {roles.map(({ id, display_name: name, description }) => (
              <th key={id} scope="col" title={description} className="min-w-20 px-3 py-2 font-semibold">
                {name.replace(/^Organization /, '')}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {permissions.map(({ name, description }) => (
            <tr key={name} className="border-b border-line last:border-0">
              <th scope="row" className="sticky left-0 bg-card px-3 py-1.5 align-baseline font-normal max-sm:max-w-36">
                <code className="break-words text-xs font-semibold">{name}</code>
                <span className="block text-xs text-faint">{description}</span>
              </th>
              {roles.map(({ id, permissions: given }) => (
                <td key={id} className="px-3 py-1.5 align-baseline whitespace-nowrap">
                  {given.includes(name) ? (
                    <span className="text-good">
                      <span aria-hidden="true">✓ </span>yes
                    </span>
                  ) : (
                    <span className="text-faint">no</span>
                  )}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
