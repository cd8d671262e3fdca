import { CopyButton } from '../../../components/copy-button.tsx';

export interface Address {
  label: string;
  /** An address, or another text that has to be entered elsewhere. */
  value: string;
}

/** Texts to enter elsewhere, each with a button that copies it. */
export function AddressList({ addresses }: { addresses: readonly Address[] }) {
  return (
    <dl className="flex min-w-0 flex-col gap-2">
      {addresses.map(({ label, value }) => (
        <div key={label} className="min-w-0">
          <dt className="text-xs font-semibold">{label}</dt>
          <dd className="flex min-w-0 flex-wrap items-center gap-2">
            <code className="min-w-0 break-all">{value}</code>
            <CopyButton what={label} text={() => value} />
          </dd>
        </div>
      ))}
    </dl>
  );
}
