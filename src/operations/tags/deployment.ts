import { listOperations } from '../list-operations.ts'
import type { Tag } from '../table.ts'

/** Deployment: 10 operations of the published API. */
export const deployment = [
  listOperations({
    path: '/deployment',
    operations: {
      GET: 'getDeployments',
      'GET count': 'getDeploymentsCount',
    },
    items: { anyOf: ['DEPLOYMENT.READ item:id'] },
  }),
  {
    getDeployment: {
      route: 'GET /deployment/:id',
      checks: [{ anyOf: ['DEPLOYMENT.READ path:id'], denied: 404 }],
      notFound: "404 InvalidRequestException: Deployment with id '{id}' does not exist",
      loads: 'deployment',
    },
    deleteDeployment: {
      route: 'DELETE /deployment/:id',
      removesRecords: 'DEPLOYMENT',
      body: 'none',
      checks: [
        { anyOf: ['DEPLOYMENT.READ path:id'], denied: 404 },
        { anyOf: ['DEPLOYMENT.DELETE path:id'], denied: 403 },
      ],
      changes: ['deployments'],
      notFound: "404 InvalidRequestException: Deployment with id '{id}' do not exist",
      loads: 'deployment',
    },
    redeploy: {
      route: 'POST /deployment/:id/redeploy',
      creates: 'answer:id',
      defaultRecord: { resource: 'DEPLOYMENT', permissions: ['READ', 'DELETE'], user: 'caller' },
      checks: [
        { anyOf: ['DEPLOYMENT.READ path:id'], denied: 404 },
        { anyOf: ['DEPLOYMENT.CREATE'], denied: 403 },
        { anyOf: ['DEPLOYMENT.READ path:id'], denied: 403 },
      ],
      changes: ['deployments'],
      links: true,
      notFound: "404 InvalidRequestException: Deployment with id '{id}' does not exist",
      loads: 'deployment',
    },
    getDeploymentResources: {
      route: 'GET /deployment/:id/resources',
      checks: [{ anyOf: ['DEPLOYMENT.READ path:id'], denied: 403 }],
      crossTenant: "500 ProcessEngineException 0: ENGINE-13034 Cannot get the deployment '{id}' because it belongs to no authenticated tenant.",
      loads: 'deployment',
    },
    getDeploymentResource: {
      route: 'GET /deployment/:id/resources/:resourceId',
      checks: [{ anyOf: ['DEPLOYMENT.READ path:id'], denied: 403 }],
      crossTenant: "500 ProcessEngineException 0: ENGINE-13034 Cannot get the deployment '{id}' because it belongs to no authenticated tenant.",
      loads: 'deployment',
    },
    getDeploymentResourceData: {
      route: 'GET /deployment/:id/resources/:resourceId/data',
      checks: [{ anyOf: ['DEPLOYMENT.READ path:id'], denied: 403 }],
      crossTenant: "500 ProcessEngineException 0: ENGINE-13034 Cannot get the deployment '{id}' because it belongs to no authenticated tenant.",
      loads: 'deployment',
    },
    createDeployment: {
      route: 'POST /deployment/create',
      creates: 'answer:id',
      defaultRecord: { resource: 'DEPLOYMENT', permissions: ['READ', 'DELETE'], user: 'caller' },
      body: 'multipart',
      checks: [{ anyOf: ['DEPLOYMENT.CREATE'], denied: 403 }],
      changes: ['deployments'],
      links: true,
    },
    getRegisteredDeployments: {
      route: 'GET /deployment/registered', perNode: true,
      checks: [{ admin: true, anyOf: ['SYSTEM.READ'], denied: 403 }],
    },
  },
] satisfies Tag
