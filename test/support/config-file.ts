import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Test } from 'tap'
import { type Config, ConfigError, loadConfig } from '../../src/config/config.ts'

type Settings = Readonly<Record<string, unknown>>

/** Returns the settings of a `gateway.yaml`. The files that it names do not exist. */
export function settingsWith(settings: Settings, engine: Settings = {}): Settings {
  return {
    version: 1,
    engines: { default: { nodes: ['http://engine:8080/engine-rest'], ...engine } },
    identity: { source: 'file', file: 'users.yaml' },
    authorization: { records: { source: 'file', file: 'authorizations.yaml' } },
    ...settings,
  }
}

export function loadSettings(t: Test, settings: Settings | string, env: NodeJS.ProcessEnv = {}): Config {
  const folder = mkdtempSync(join(tmpdir(), 'engine-gateway-config-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'gateway.yaml')
  writeFileSync(file, typeof settings === 'string' ? settings : JSON.stringify(settings))
  return loadConfig(file, env)
}

export function problemsIn(
  t: Test,
  settings: Settings | string,
  env: NodeJS.ProcessEnv = {},
): readonly string[] {
  try {
    loadSettings(t, settings, env)
    return []
  } catch (error) {
    if (error instanceof ConfigError) return error.problems
    throw error
  }
}
