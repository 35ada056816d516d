import { OPERATIONS } from '../../src/operations/all.ts'
import type { Operation } from '../../src/operations/table.ts'
import { withSpecificVariablePermissions } from '../../src/operations/variable-permissions.ts'
import type { LinkSettings } from '../../src/policy/authz/entities/implicit-grants.ts'
import type { Family } from '../engine/build.ts'

/** Settings of the secured engine that change its checks. The gateway is configured with the same. */
export type EngineSettings = LinkSettings

export const DEFAULT_SETTINGS: EngineSettings = { taskPermission: 'UPDATE', specificVariables: false }

/** The names that `--engine-settings` accepts, and the settings that each name changes. */
const NAMED: Readonly<Record<string, Partial<EngineSettings>>> = {
  'specific-variables': { specificVariables: true },
  'task-work': { taskPermission: 'TASK_WORK' },
}

/** Parses a list of names that are separated by commas. @throws Error if a name is unknown */
export function readEngineSettings(text: string): EngineSettings {
  const names = text.split(',').filter((name) => name !== '')
  return names.reduce((settings, name) => {
    const changed = NAMED[name]
    if (changed === undefined) throw new Error(`--engine-settings takes ${Object.keys(NAMED).join(', ')}`)
    return { ...settings, ...changed }
  }, DEFAULT_SETTINGS)
}

/** Returns the Spring properties of an engine with these settings. */
export function propertiesOf(
  { specificVariables, taskPermission }: EngineSettings,
  family: Family,
): string[] {
  const prefix = `--${family === 'operaton' ? 'operaton' : 'camunda'}.bpm.generic-properties.properties`
  return [
    `${prefix}.enforce-specific-variable-permission=${specificVariables}`,
    `${prefix}.default-user-permission-name-for-task=${taskPermission}`,
  ]
}

/** Returns the operations with the checks of an engine with these settings. */
export function operationsOf({ specificVariables }: EngineSettings): readonly Operation[] {
  return specificVariables ? OPERATIONS.map(withSpecificVariablePermissions) : OPERATIONS
}
