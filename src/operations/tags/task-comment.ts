import type { TagOperations } from '../table.ts'

/** Task Comment: 3 operations of the published API. */
export const taskComment = {
  getComments: {
    route: 'GET /task/:id/comment',
    checks: [
      { anyOf: ['PROCESS_DEFINITION.READ_HISTORY historicTask.processDefinitionKey'], denied: 404, foundBy: 'query', exempt: 'no execution' },
    ],
    notFound: '404 InvalidRequestException: No task found for task id {id}',
  },
  getComment: {
    route: 'GET /task/:id/comment/:commentId',
    checks: [],
    crossTenant: 'ignored',
  },
  createComment: {
    route: 'POST /task/:id/comment/create',
    creates: 'answer:id',
    links: true,
    checks: [
      { anyOf: ['PROCESS_DEFINITION.READ_HISTORY historicTask.processDefinitionKey'], denied: 400, foundBy: 'query', exempt: 'no execution' },
    ],
    notFound: '400 InvalidRequestException: No task found for task id {id}',
  },
} satisfies TagOperations
