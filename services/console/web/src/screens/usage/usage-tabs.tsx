import { Tabs } from '../../components/tabs.tsx';

/** Leads from what a workspace uses to what it may use, and back. */
export function UsageTabs({ workspaceId }: { workspaceId: string }) {
  const params = { workspaceId };
  return (
    <Tabs
      label="Parts of the usage"
      tabs={[
        { label: 'Usage', link: { to: '/w/$workspaceId/usage', params }, isExact: true },
        { label: 'Budgets', link: { to: '/w/$workspaceId/usage/budgets', params } },
      ]}
    />
  );
}
