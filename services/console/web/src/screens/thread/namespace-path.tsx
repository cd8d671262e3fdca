import type { ThreadState } from '@runyard/contracts';
import { Link } from '@tanstack/react-router';
import { namespacesTo, nodeOf } from './namespace.ts';

interface NamespacePathProps {
  namespace: string;
  /** The checkpoint that is shown; it may name those of the graphs around it. */
  checkpoint: ThreadState['checkpoint'] | undefined;
}

/** The way from the whole graph into a subgraph, and back. */
export function NamespacePath({ namespace, checkpoint }: NamespacePathProps) {
  return (
    <nav aria-label="Graphs">
      <ol className="flex flex-wrap gap-x-2">
        {namespacesTo(namespace).map((each) => {
          const name = each === '' ? 'Whole graph' : nodeOf(each);
          const around = checkpoint?.checkpoint_map?.[each];
          return (
            <li key={each} className="flex gap-x-2">
              {each !== '' && (
                <span aria-hidden="true" className="text-faint">
                  ›
                </span>
              )}
              {each === namespace ? (
                <span aria-current="location" className="font-semibold">
                  {name}
                </span>
              ) : (
                <Link
                  from="/w/$workspaceId/deployments/$deploymentId/threads/$threadId"
                  to="."
                  search={{
                    ...(each !== '' && { ns: each }),
                    ...(typeof around === 'string' && { checkpoint: around }),
                  }}
                >
                  {name}
                </Link>
              )}
            </li>
          );
        })}
      </ol>
    </nav>
  );
}
