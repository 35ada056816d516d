import type { Rowset } from '../table.ts'

/** Historic Incident: 2 operations of the published API, sorted by path, then method. */
export const historicIncident = {
  getHistoricIncidents: {
    route: 'GET /history/incident',
    checks: [],
    rows: {
      anyOf: ['PROCESS_DEFINITION.READ_HISTORY row:processDefinitionKey'],
      exempt: 'no definition',
      query: 'historicIncidents',
    },
  },
  getHistoricIncidentsCount: {
    route: 'GET /history/incident/count',
    checks: [],
    rows: {
      form: 'count',
      anyOf: ['PROCESS_DEFINITION.READ_HISTORY row:processDefinitionKey'],
      exempt: 'no definition',
      query: 'historicIncidents',
    },
  },
} satisfies Rowset
