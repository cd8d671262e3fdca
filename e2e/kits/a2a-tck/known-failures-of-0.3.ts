const NO_KEY =
  'The kit cannot send a key: the proxy adds one to whatever has none. e2e/access looks at each operation without.';
const NO_ID =
  'The request has no `id`. It would be a notification, which A2A has not, and is refused before its method is read.';

/** By the ids of its tests. */
export const KNOWN_FAILURES_OF_03: Readonly<Record<string, string>> = {
  'tests/mandatory/authentication/test_auth_enforcement.py::test_authentication_required_when_declared': NO_KEY,
  'tests/mandatory/protocol/test_a2a_v030_new_methods.py::TestAuthenticatedExtendedCard::test_authenticated_extended_card_without_auth':
    NO_KEY,
  'tests/mandatory/protocol/test_extended_agent_card.py::test_extended_agent_card_authentication_required': NO_KEY,
  'tests/mandatory/security/test_agent_card_security.py::test_extended_card_access_controls': NO_KEY,
  'tests/mandatory/security/test_agent_card_security.py::test_authentication_scheme_validation': NO_KEY,
  'tests/mandatory/jsonrpc/test_json_rpc_compliance.py::test_rejects_invalid_json_rpc_requests[invalid_request2--32601]':
    NO_ID,
  'tests/mandatory/jsonrpc/test_json_rpc_compliance.py::test_rejects_invalid_json_rpc_requests[invalid_request4--32602]':
    NO_ID,
  'tests/mandatory/jsonrpc/test_a2a_error_codes_enhanced.py::test_push_notification_not_supported_error_32003_enhanced':
    'The kit did not find the capability in the card, which has it, and wants an agent without push notifications.',
  'tests/mandatory/quality/test_error_validation_enhanced.py::test_invalid_method_error_validation':
    'The kit sends a whole request as the name of the method, which is no text.',
  'tests/mandatory/security/test_agent_card_security.py::test_public_agent_card_access_control':
    'The kit asks the address of JSON-RPC with GET for a card, which is at `/.well-known/agent-card.json`.',
  'tests/mandatory/security/test_agent_card_security.py::test_sensitive_information_protection':
    'The kit takes the name of the scheme `apiKey`, and the address of this machine, for secrets.',
  'tests/optional/capabilities/test_authentication.py::test_invalid_authentication':
    'The HTTP client of the kit refuses the header that the kit gives it.',
  'tests/optional/capabilities/test_push_notification_config_methods.py::test_get_push_notification_config':
    'The kit asks for the configuration `default`, which it did not make: the one that it made has another id.',
  'tests/optional/capabilities/test_streaming_methods.py::test_tasks_resubscribe_nonexistent':
    'The kit wants an error before a stream as a stream. Its edition of 1.0 takes the answer in JSON, as it is sent here.',
};
