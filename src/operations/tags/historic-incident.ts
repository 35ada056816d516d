import { listOperations } from '../list-operations.ts'
import type { Tag } from '../table.ts'

/** Historic Incident: 2 operations of the published API. */
export const historicIncident = [
  listOperations({
    path: '/history/incident',
    operations: {
      GET: 'getHistoricIncidents',
      'GET count': 'getHistoricIncidentsCount',
    },
    items: {
      anyOf: ['PROCESS_DEFINITION.READ_HISTORY item:processDefinitionKey'],
      exempt: 'no definition',
      prefilter: 'historicIncidents',
    },
  }),
] satisfies Tag
