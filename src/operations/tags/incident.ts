import { listOperations } from '../list-operations.ts'
import { instancePermissions } from '../common-permissions.ts'
import type { Tag } from '../table.ts'

/** Incident: 6 operations of the published API. */
export const incident = [
  listOperations({
    path: '/incident',
    operations: {
      GET: 'getIncidents',
      'GET count': 'getIncidentsCount',
    },
    items: {
      anyOf: instancePermissions('READ', 'item'),
      exempt: 'no definition',
      prefilter: 'incidents',
    },
  }),
  {
    getIncident: {
      route: 'GET /incident/:id',
      checks: [{ anyOf: instancePermissions('READ', 'incident'), denied: 404, foundBy: 'query', exempt: 'no definition' }],
      notFound: '404 InvalidRequestException: No matching incident with id {id}',
    },
    resolveIncident: {
      route: 'DELETE /incident/:id',
      body: 'none',
      checks: [{ anyOf: instancePermissions('UPDATE', 'incident'), denied: 403 }],
      notFound: "404 InvalidRequestException: Cannot find an incident with id '{id}': incident is null",
      crossTenant: "500 ProcessEngineException 0: ENGINE-13034 Cannot update the process instance '{incident.processInstanceId}' because it belongs to no authenticated tenant.",
      preconditions: [
        { when: 'the incident was not created by a caller', denied: '400 InvalidRequestException: Cannot resolve an incident of type {incident.incidentType}' },
      ],
    },
    setIncidentAnnotation: {
      route: 'PUT /incident/:id/annotation',
      conflict: 'repeat',
      checks: [{ anyOf: instancePermissions('UPDATE', 'incident'), denied: 403 }],
      notFound: '400 BadUserRequestException 0: incident is null',
      crossTenant: "500 ProcessEngineException 0: ENGINE-13034 Cannot update the process instance '{incident.processInstanceId}' because it belongs to no authenticated tenant.",
    },
    clearIncidentAnnotation: {
      route: 'DELETE /incident/:id/annotation',
      body: 'none',
      conflict: 'repeat',
      checks: [{ anyOf: instancePermissions('UPDATE', 'incident'), denied: 403 }],
      notFound: '400 BadUserRequestException 0: incident is null',
      crossTenant: "500 ProcessEngineException 0: ENGINE-13034 Cannot update the process instance '{incident.processInstanceId}' because it belongs to no authenticated tenant.",
    },
  },
] satisfies Tag
