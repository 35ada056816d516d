import type { TagOperations } from '../table.ts'

/** Task Attachment: 5 operations of the published API. */
export const taskAttachment = {
  getAttachments: {
    route: 'GET /task/:id/attachment',
    checks: [
      { anyOf: ['PROCESS_DEFINITION.READ_HISTORY historicTask.processDefinitionKey'], denied: 404, foundBy: 'query', exempt: 'no execution' },
    ],
    notFound: '404 InvalidRequestException: No task found for task id {id}',
  },
  getAttachment: {
    route: 'GET /task/:id/attachment/:attachmentId',
    checks: [],
    crossTenant: 'ignored',
  },
  deleteAttachment: {
    route: 'DELETE /task/:id/attachment/:attachmentId',
    body: 'none',
    checks: [],
    crossTenant: 'ignored',
  },
  getAttachmentData: {
    route: 'GET /task/:id/attachment/:attachmentId/data',
    checks: [],
    crossTenant: 'ignored',
  },
  addAttachment: {
    route: 'POST /task/:id/attachment/create',
    creates: 'answer:id',
    links: true,
    body: 'multipart',
    checks: [
      { anyOf: ['PROCESS_DEFINITION.READ_HISTORY historicTask.processDefinitionKey'], denied: 400, foundBy: 'query', exempt: 'no execution' },
    ],
    notFound: '400 InvalidRequestException: No task found for task id {id}',
  },
} satisfies TagOperations
