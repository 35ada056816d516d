import { execFileSync, spawnSync } from 'node:child_process'
import { join } from 'node:path'
import type { Test } from 'tap'
import { parseAllDocuments } from 'yaml'

export type Json = Readonly<Record<string, unknown>>

/** The folder of the chart. */
export const CHART = join(import.meta.dirname, '../../../helm/engine-gateway')

/** The values that the chart requires. */
export const LEAST_VALUES = join(import.meta.dirname, 'least-values.yaml')

/** The definitions of custom resources that `helm/install-tools` downloads. */
export const CRDS = join(CHART, '../../node_modules/.cache/crds')

/**
 * Returns the objects of a release `gw` with the least values, and with values in the form of `--set`.
 * @throws with the message of Helm if it renders nothing
 */
export function render(...sets: readonly string[]): readonly Json[] {
  return renderAt(CHART, sets)
}

/** Returns the objects of the chart in another folder, with the least values. */
export function renderAt(folder: string, sets: readonly string[]): readonly Json[] {
  const settings = sets.flatMap((set) => ['--set', set])
  return objectsOf(helm('template', 'gw', folder, '--values', LEAST_VALUES, ...settings))
}

/**
 * Returns the objects of a release `gw` with the least values and these values.
 * @throws with the message of Helm if it renders nothing
 */
export function renderWith(values: Json): readonly Json[] {
  return objectsOf(textWith(values))
}

/** Returns the output of `helm template` for a release `gw` with the least values and these values. */
export function textWith(values: Json): string {
  return runHelm(['template', 'gw', CHART, '--values', LEAST_VALUES, '--values', '-'], JSON.stringify(values))
}

/**
 * Returns the output of Helm.
 * @throws with the message of Helm if it fails
 */
export function helm(...args: readonly string[]): string {
  return runHelm(args)
}

/** Runs Helm for the oldest Kubernetes that the chart supports, unless the arguments name another version. */
function runHelm([command = '', ...args]: readonly string[], input = ''): string {
  const version = ['--kube-version', '1.27']
  return execFileSync('helm', [command, ...version, ...args], { encoding: 'utf8', stdio: 'pipe', input })
}

/** Runs a program on a file with these objects. Returns its exit code and its output. */
export function runOn(t: Test, objects: string, program: string, ...args: readonly string[]) {
  const file = join(t.testdir({ 'all.yaml': objects }), 'all.yaml')
  const { status, stdout, stderr } = spawnSync(program, [...args, file], { encoding: 'utf8' })
  return { status, said: `${stdout}${stderr}` }
}

/** Parses the objects in the output of `helm template`. */
export function objectsOf(text: string): readonly Json[] {
  return parseAllDocuments(text).map((document): Json => document.toJS() ?? {})
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

/** Returns the list at a path. Returns an empty list if the path has no list. */
export function listAt(value: unknown, path: string): readonly unknown[] {
  const list = at(value, path)
  return Array.isArray(list) ? list : []
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
