import type { Check } from '../notation.ts'
import type { TagOperations } from '../table.ts'

/** The checks of a plan that is executed: both definitions are found first, and then all instances are migrated. */
const FIND_SOURCE: Check = { anyOf: [
  'PROCESS_DEFINITION.READ processDefinition(body:migrationPlan.sourceProcessDefinitionId).key',
], denied: 403, beforeSelection: true, notFound: "400 InvalidRequestException 0: ENGINE-23008 Source process definition with id '{migrationPlan.sourceProcessDefinitionId}' does not exist", crossTenant: "500 ProcessEngineException 0: ENGINE-13034 Cannot get process definition '{migrationPlan.sourceProcessDefinitionId}' because it belongs to no authenticated tenant." }

const FIND_TARGET: Check = { name: 'target definition', anyOf: [
  'PROCESS_DEFINITION.READ processDefinition(body:migrationPlan.targetProcessDefinitionId).key',
], denied: 403, beforeSelection: true, notFound: "400 InvalidRequestException 0: ENGINE-23008 Target process definition with id '{migrationPlan.targetProcessDefinitionId}' does not exist", crossTenant: "500 ProcessEngineException 0: ENGINE-13034 Cannot get process definition '{migrationPlan.targetProcessDefinitionId}' because it belongs to no authenticated tenant." }

const MIGRATE_INSTANCES: Check = { allOf: [
  'PROCESS_DEFINITION.MIGRATE_INSTANCE processDefinition(body:migrationPlan.sourceProcessDefinitionId).key',
  'PROCESS_DEFINITION.MIGRATE_INSTANCE processDefinition(body:migrationPlan.targetProcessDefinitionId).key',
], when: 'the plan is valid', denied: 403 }

/** The checks of a plan that is only generated or validated. */
const FIND_DEFINITIONS: readonly Check[] = [
  { anyOf: [
    'PROCESS_DEFINITION.READ processDefinition(body:sourceProcessDefinitionId).key',
  ], denied: 403, notFound: "400 InvalidRequestException 0: ENGINE-23008 Source process definition with id '{sourceProcessDefinitionId}' does not exist", crossTenant: "500 ProcessEngineException 0: ENGINE-13034 Cannot get process definition '{sourceProcessDefinitionId}' because it belongs to no authenticated tenant." },
  { anyOf: [
    'PROCESS_DEFINITION.READ processDefinition(body:targetProcessDefinitionId).key',
  ], denied: 403, notFound: "400 InvalidRequestException 0: ENGINE-23008 Target process definition with id '{targetProcessDefinitionId}' does not exist", crossTenant: "500 ProcessEngineException 0: ENGINE-13034 Cannot get process definition '{targetProcessDefinitionId}' because it belongs to no authenticated tenant." },
]

/** Migration: 4 operations of the published API. */
export const migration = {
  executeMigrationPlan: {
    route: 'POST /migration/execute',
    idempotencyKey: true,
    body: 'MigrationExecutionDto',
    checks: [
      FIND_SOURCE,
      FIND_TARGET,
      MIGRATE_INSTANCES,
    ],
    empty: '400 BadUserRequestException 0: Process instance ids cannot empty: process instance ids is empty',
    selectors: { processInstanceQuery: 'processInstanceIds' },
  },
  executeMigrationPlanAsync: {
    route: 'POST /migration/executeAsync',
    creates: 'answer:id',
    idempotencyKey: true,
    body: 'MigrationExecutionDto',
    checks: [
      FIND_SOURCE,
      FIND_TARGET,
      { anyOf: ['BATCH.CREATE_BATCH_MIGRATE_PROCESS_INSTANCES', 'BATCH.CREATE'], when: 'the plan is valid', denied: 403 },
      MIGRATE_INSTANCES,
    ],
    empty: '400 BadUserRequestException 0: Process instance ids cannot empty: process instance ids is empty',
    selectors: { processInstanceQuery: 'processInstanceIds' },
  },
  generateMigrationPlan: {
    route: 'POST /migration/generate',
    effect: 'read',
    body: 'MigrationPlanGenerationDto',
    checks: FIND_DEFINITIONS,
  },
  validateMigrationPlan: {
    route: 'POST /migration/validate',
    effect: 'read',
    body: 'MigrationPlanDto',
    checks: FIND_DEFINITIONS,
  },
} satisfies TagOperations
