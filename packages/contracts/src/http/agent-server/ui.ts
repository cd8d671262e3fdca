import Type from 'typebox';
import { defineOperation } from '../../operation.ts';
import { ErrorResponse } from '../common.ts';

const UiRequest = Type.Object(
  { name: Type.String({ description: 'Which component of the graph to show.' }) },
  { $id: 'UiRequest' },
);

const agent = Type.String({ maxLength: 1_000, description: 'A key of `ui` in `langgraph.json`: the id of a graph.' });

export const getUi = defineOperation({
  operationId: 'getUi',
  method: 'post',
  path: '/ui/{agent}',
  summary: 'What a page inserts to show a component of a graph',
  tags: ['User interface'],
  access: 'principal',
  permission: 'runs:read',
  params: Type.Object({ agent }),
  body: UiRequest,
  responses: {
    200: {
      description:
        'Elements that load the styles and the script of the graph, by absolute URLs, and then show the component. `{{shadowRootId}}` stands for the id of the element to show it in.',
      contentType: 'text/html',
      schema: Type.String(),
      example: `<script src="http://localhost:2024/ui/agent/entrypoint.js" onload='__LGUI_agent.render("weather", "{{shadowRootId}}")'></script>`,
    },
    404: { description: 'The graph has no components.', schema: ErrorResponse },
    422: { description: 'The body is not of this form.', schema: ErrorResponse },
  },
  examples: { params: { agent: 'agent' }, body: { name: 'weather' } },
});

export const getUiFile = defineOperation({
  operationId: 'getUiFile',
  method: 'get',
  path: '/ui/{agent}/{basename}',
  summary: 'A script or style sheet of the components of a graph',
  tags: ['User interface'],
  access: 'public',
  params: Type.Object({
    agent,
    basename: Type.String({ maxLength: 1_000, description: 'As in the URLs of `POST /ui/{agent}`.' }),
  }),
  responses: {
    200: {
      description: 'The file: `text/javascript`, or `text/css` for a style sheet. Browsers ask without a key.',
      contentType: 'text/javascript',
      schema: Type.String(),
    },
    404: { description: 'There is no such file.', schema: ErrorResponse },
  },
  examples: { params: { agent: 'agent', basename: 'entrypoint.js' } },
});

export const UI_OPERATIONS = [getUi, getUiFile];
