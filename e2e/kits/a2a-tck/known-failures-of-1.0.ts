const ERROR_IS_SUCCESS = 'The check names the error that must come, and counts it as a failed operation.';

/** By the ids of its tests. */
export const KNOWN_FAILURES_OF_10: Readonly<Record<string, string>> = {
  'tests/compatibility/agent_card/test_agent_card_caching.py::TestAgentCardLastModified::test_last_modified_present':
    'Optional: a card is made for the address that asks, and has no time of a change. It has an ETag.',
  'tests/compatibility/core_operations/test_requirements.py::test_must_requirement[CORE-SEND-003-jsonrpc]':
    ERROR_IS_SUCCESS,
  'tests/compatibility/core_operations/test_requirements.py::test_must_requirement[CORE-SEND-003-http_json]':
    ERROR_IS_SUCCESS,
  'tests/compatibility/core_operations/test_requirements.py::test_must_requirement[CORE-MULTI-002a-jsonrpc]':
    ERROR_IS_SUCCESS,
  'tests/compatibility/core_operations/test_requirements.py::test_must_requirement[CORE-MULTI-002a-http_json]':
    ERROR_IS_SUCCESS,
  'tests/compatibility/http_json/test_http_status.py::TestHttpJsonStatusCodes::test_content_type_not_supported_returns_415':
    'The status is that of A2A 1.0.1: 400. The kit has an earlier one, 415.',
};
