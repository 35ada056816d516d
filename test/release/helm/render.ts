import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import type { Test } from 'tap'
import { parseAllDocuments } from 'yaml'

export type Json = Readonly<Record<string, unknown>>

/** The folder of the chart. */
export const CHART = join(import.meta.dirname, '../../../helm/engine-gateway')

/**
 * Returns the objects of a release `gw` with values in the form of `--set`.
 * @throws with the message of Helm if it renders nothing
 */
export function render(...sets: readonly string[]): readonly Json[] {
  return renderAt(CHART, sets)
}

/** Returns the objects of the chart in another folder. */
export function renderAt(folder: string, sets: readonly string[]): readonly Json[] {
  return objectsOf(helm('template', 'gw', folder, ...sets.flatMap((set) => ['--set', set])))
}

/**
 * Returns the output of Helm.
 * @throws with the message of Helm if it fails
 */
export function helm(...args: readonly string[]): string {
  return execFileSync('helm', args, { encoding: 'utf8', stdio: 'pipe' })
}

/** Parses the objects in the output of `helm template`. */
export function objectsOf(text: string): readonly Json[] {
  return parseAllDocuments(text).map((document): Json => document.toJS())
}

/** Returns the object of a kind and a name. */
export function find(objects: readonly Json[], kind: string, name = 'gw-engine-gateway'): Json | undefined {
  return objects.find((one) => one['kind'] === kind && at(one, 'metadata.name') === name)
}

/** Returns the value at a path, for example `at(pod, 'spec.containers.0.image')`. */
export function at(value: unknown, path: string): unknown {
  return path.split('.').reduce<unknown>((inner, key) => {
    if (typeof inner !== 'object' || inner === null) return undefined
    return Object.entries(inner).find(([name]) => name === key)?.[1]
  }, value)
}

/** Returns the template of the pods. */
export function podOf(objects: readonly Json[]): unknown {
  return at(find(objects, 'Deployment'), 'spec.template')
}

/** Writes the files of the config map to a folder. Returns the folder. */
export function configFolderOf(t: Test, objects: readonly Json[]): string {
  const data = Object.entries(at(find(objects, 'ConfigMap'), 'data') ?? {})
  return t.testdir(Object.fromEntries(data.map(([name, text]) => [name, String(text)])))
}
