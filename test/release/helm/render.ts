import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import type { Test } from 'tap'
import { parseAllDocuments } from 'yaml'

export type Json = Readonly<Record<string, unknown>>

/** The folder of the chart. */
export const CHART = join(import.meta.dirname, '../../../helm/engine-gateway')

/** The objects of a release `gw` with values as `--set` takes them. @throws what Helm says, where it renders nothing */
export function render(...sets: readonly string[]): readonly Json[] {
  return renderAt(CHART, sets)
}

/** Those of the chart in another folder. */
export function renderAt(folder: string, sets: readonly string[]): readonly Json[] {
  return objectsOf(helm('template', 'gw', folder, ...sets.flatMap((set) => ['--set', set])))
}

/** What Helm prints. @throws with what it says, where it fails */
export function helm(...args: readonly string[]): string {
  return execFileSync('helm', args, { encoding: 'utf8', stdio: 'pipe' })
}

/** The objects in what `helm template` prints. */
export function objectsOf(text: string): readonly Json[] {
  return parseAllDocuments(text).map((document): Json => document.toJS())
}

/** The object of a kind and a name. */
export function find(objects: readonly Json[], kind: string, name = 'gw-engine-gateway'): Json | undefined {
  return objects.find((one) => one['kind'] === kind && at(one, 'metadata.name') === name)
}

/** `at(pod, 'spec.containers.0.image')` */
export function at(value: unknown, path: string): unknown {
  return path.split('.').reduce<unknown>((inner, key) => {
    if (typeof inner !== 'object' || inner === null) return undefined
    return Object.entries(inner).find(([name]) => name === key)?.[1]
  }, value)
}

/** The template of the pods. */
export function podOf(objects: readonly Json[]): unknown {
  return at(find(objects, 'Deployment'), 'spec.template')
}

/** A folder with the files of the config map. */
export function configFolderOf(t: Test, objects: readonly Json[]): string {
  const data = Object.entries(at(find(objects, 'ConfigMap'), 'data') ?? {})
  return t.testdir(Object.fromEntries(data.map(([name, text]) => [name, String(text)])))
}
