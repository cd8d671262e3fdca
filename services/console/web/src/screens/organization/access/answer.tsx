import type { AccessExplanation } from '@runyard/contracts';
import type { UseQueryResult } from '@tanstack/react-query';
import { Fault } from '../../../components/fault.tsx';
import { Loading } from '../../../components/loading.tsx';
import { Time } from '../../../components/time.tsx';

/** Says whether an identity may do something, and why. */
export function Answer({
  answer: { data, error, isPending, refetch },
  isByKey,
}: {
  answer: UseQueryResult<AccessExplanation>;
  /** True: the question names a key of the identity. */
  isByKey: boolean;
}) {
  return (
    <>
      {isPending && <Loading what="the answer" />}
      <Fault error={error} onRetry={() => void refetch()} />
      {/* It stays while the question changes: a region that comes with its text is not read out. */}
      <div aria-live="polite">{data && <Explanation explanation={data} isByKey={isByKey} />}</div>
    </>
  );
}

function Explanation({ explanation: data, isByKey }: { explanation: AccessExplanation; isByKey: boolean }) {
  return (
    <div className="flex min-w-0 flex-col gap-3 rounded border border-line bg-card p-4">
      <p className={`text-base font-semibold ${data.allowed ? 'text-good' : 'text-fault'}`}>
        {data.identity.name} {data.allowed ? 'may' : 'may not'} <code>{data.permission}</code>
        {isByKey && ' with this key'}
      </p>
      <Reasons explanation={data} />
      {data.changes.length > 0 && (
        <div>
          <h3 className="font-semibold">What would change it</h3>
          <ul className="list-disc pl-5">
            {data.changes.map(({ change, description }) => (
              <li key={`${change} ${description}`}>{description}</li>
            ))}
          </ul>
        </div>
      )}
    </div>
  );
}

const WAYS: Record<NonNullable<AccessExplanation['via']>, string> = {
  organization_role: 'by the role in the organization',
  organization_administrator: 'as administrators of the organization have in every workspace',
  membership: 'by membership in the workspace',
  everywhere: 'in every workspace',
};

/** The origins of roles that have no name of their own. */
const SOURCES: Record<string, string> = {
  manual: 'a change by hand',
  invite: 'an invite',
  bootstrap: 'the first set-up',
  jit: 'the first sign-in',
  default: 'the role of members to whom nothing gives another',
};

function Reasons({ explanation }: { explanation: AccessExplanation }) {
  const {
    role,
    via,
    source,
    policy,
    identity,
    resource,
    depends_on_tags: dependsOnTags,
    decided_by: decided,
  } = explanation;
  return (
    <ul className="flex list-disc flex-col gap-1 pl-5">
      {identity.disabled && <li>The account is disabled.</li>}
      {role ? (
        <li>
          The role in the {resource.type} is <strong>{role.display_name}</strong>
          {via && `, ${WAYS[via]}`}.
        </li>
      ) : (
        <li>There is no role in the {resource.type}.</li>
      )}
      {source && (
        <li>
          It comes from <strong>{source.name ?? SOURCES[source.kind] ?? source.kind.replaceAll('_', ' ')}</strong>
          {source.created_at !== null && (
            <>
              {' '}
              <Time at={source.created_at} />
            </>
          )}
          .
        </li>
      )}
      {policy && (
        <li>
          {policy.effect === 'allow' ? 'Allowed' : 'Denied'} by{' '}
          {policy.policies.length === 1 ? 'the access policy' : 'the access policies'}{' '}
          <strong>{policy.policies.map(({ name }) => name).join(', ')}</strong>, by the tags of the{' '}
          {policy.resource.type.replaceAll('_', ' ')}.
        </li>
      )}
      {dependsOnTags && <li>Access policies decide otherwise about resources with certain tags.</li>}
      {decided && (
        <li>
          Decided by <code>{decided.action}</code> <Time at={decided.occurred_at} />.
        </li>
      )}
    </ul>
  );
}
