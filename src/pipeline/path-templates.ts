import type { Operation } from '../operations/table.ts'
import { targetPathOf } from '../request/target.ts'

/** A path of the table with its operations. */
export interface PathTemplate {
  /** The path below the base path, for example `/task/:id`. */
  readonly template: string
  readonly operations: readonly Operation[]
  /** The methods of the operations. HEAD uses the operation of GET. */
  readonly methods: ReadonlySet<string>
  /**
   * The methods that the path does not have, although the router would find another template for them: `DELETE /task/count` would
   * delete the task `count`.
   */
  readonly refusedMethods: ReadonlySet<string>
}

export interface PathTemplates {
  readonly all: readonly PathTemplate[]
  /** Returns the methods of a canonical target, as in `Allow`. Null if the table has no such path. */
  readonly methodsOf: (target: string) => string | null
}

interface SplitTemplate extends PathTemplate {
  readonly segments: readonly string[]
  /** The template with a character in place of each parameter that follows all characters of literals. */
  readonly order: string
  readonly refusedMethods: Set<string>
}

/** Groups the operations by path. The router knows only operations, so the methods of a path are found here. */
export function createPathTemplates(operations: readonly Operation[], basePath = ''): PathTemplates {
  const byTemplate = Map.groupBy(operations, ({ template }) => template)
  const all = [...byTemplate].map(([template, found]) => split(template, found))
  const groups = Map.groupBy(all, ({ segments }) => groupOf(segments))
  for (const group of groups.values()) {
    // As the router prefers them: at the first difference, a literal precedes a parameter.
    group.sort((one, other) => (one.order < other.order ? -1 : 1))
    addRefusedMethods(group)
  }
  return {
    all,
    methodsOf: (target) => {
      const path = decodeURIComponent(targetPathOf(target)).slice(basePath.length)
      const segments = segmentsOf(path)
      const found = groups.get(groupOf(segments))?.find((template) => isMatch(template, segments))
      return found === undefined ? null : [...found.methods].join(', ')
    },
  }
}

function split(template: string, operations: readonly Operation[]): SplitTemplate {
  return {
    template,
    operations,
    methods: new Set(operations.flatMap(methodsOfOperation)),
    segments: segmentsOf(template),
    order: template.replaceAll(/:\w+/g, '~'),
    refusedMethods: new Set(),
  }
}

/** Returns the methods that run an operation. */
export function methodsOfOperation({ method }: Pick<Operation, 'method'>): string[] {
  return method === 'GET' ? ['GET', 'HEAD'] : [method]
}

function segmentsOf(path: string): readonly string[] {
  return path.split('/').slice(1)
}

/** Only templates of one group can match the same path, because the first segment of a template is never a parameter. */
function groupOf(segments: readonly string[]): string {
  return `${segments.length} ${segments[0]}`
}

function addRefusedMethods(group: readonly SplitTemplate[]): void {
  for (const [index, { segments, methods, refusedMethods }] of group.entries()) {
    const overlapping = group
      .slice(index + 1)
      .filter((other) => segments.every((segment, at) => overlap(segment, other.segments[at])))
    for (const other of overlapping)
      for (const method of other.methods) if (!methods.has(method)) refusedMethods.add(method)
  }
}

/** Returns whether one text matches both segments. */
function overlap(segment: string, other = ''): boolean {
  return segment === other || isParameter(segment) || isParameter(other)
}

function isMatch({ segments }: SplitTemplate, path: readonly string[]): boolean {
  return segments.every((segment, index) => isParameter(segment) || segment === path[index])
}

function isParameter(segment: string): boolean {
  return segment.startsWith(':')
}
