import { describe, expect, it } from 'vitest';
import { OPEN_API_INFO } from '../../descriptions/descriptions.ts';
import { buildOpenApi } from '../../openapi.ts';
import { oauthBrokerOperations } from './index.ts';

describe('the description of tokens/exists', () => {
  const document = buildOpenApi(oauthBrokerOperations, OPEN_API_INFO['oauth-broker']);
  const operation = document.paths['/v2/auth/tokens/exists']!.get!;

  it('is in the group of the auth service, in version 0.1.0', () => {
    expect(document.info.version).toBe('0.1.0');
    expect(operation.tags).toEqual(['Auth Service (v2)']);
  });

  it('names three alternative ways to authenticate', () => {
    expect(operation.security).toEqual([{ ApiKey: [] }, { TenantId: [] }, { Bearer: [] }]);
  });

  it('requires the provider, and answers with a token or an error', () => {
    expect(operation.parameters).toMatchObject([{ name: 'provider_id', in: 'query', required: true }]);
    const schemaOf = (status: string) => operation.responses[status]?.content?.['application/json']?.schema;
    expect(schemaOf('200')).toEqual({ $ref: '#/components/schemas/OAuthTokenStatusResponse' });
    expect(schemaOf('422')).toEqual({ $ref: '#/components/schemas/ValidationErrorResponse' });
  });
});
