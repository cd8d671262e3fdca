import type { Project } from '@runyard/project';
import type { SecurityDescription } from '@runyard/service-kit';

/** Returns how the documentation says that callers prove who they are; undefined where the platform decides it. */
export function documentedSecurity({
  auth,
  authSettings,
}: Pick<Project, 'auth' | 'authSettings'>): SecurityDescription | undefined {
  if (auth === null || !authSettings?.openapi) return undefined;
  const { securitySchemes = {}, security, paths } = authSettings.openapi;
  const own = security ?? Object.keys(securitySchemes).map((name) => ({ [name]: [] }));
  const demanded = authSettings.allow_langsmith_api_keys ? [...own, { ApiKey: [] }] : own;
  return {
    securitySchemes,
    ...(own.length > 0 && { security: demanded }),
    ...(paths !== undefined && { paths }),
  };
}
