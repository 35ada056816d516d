import { decisionDefinitionRoutes } from './decision-definition.ts'
import { executionRoutes } from './execution.ts'
import { externalTaskRoutes } from './external-task.ts'
import { historyRoutes } from './history.ts'
import { json } from './http.ts'
import { identityRoutes } from './identity.ts'
import { migrationRoutes } from './migration.ts'
import { processDefinitionRoutes } from './process-definition.ts'
import { processInstanceRoutes } from './process-instance.ts'
import { get } from './router.ts'
import type { Route } from './router.ts'
import { taskRoutes } from './task.ts'

/** The operations of the API that the sandbox serves. If two templates match a path, the first one counts. */
export const routes: readonly Route[] = [
  get('/version', () => json({ version: '7.22.0' })),
  ...taskRoutes,
  ...processDefinitionRoutes,
  ...decisionDefinitionRoutes,
  ...processInstanceRoutes,
  ...executionRoutes,
  ...externalTaskRoutes,
  ...migrationRoutes,
  ...historyRoutes,
  ...identityRoutes,
]
