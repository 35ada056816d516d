import { definitions } from './definitions.ts'
import { history } from './history.ts'
import { identity } from './identity.ts'
import { jobs } from './jobs.ts'
import { runtime } from './runtime.ts'
import { tasks } from './tasks.ts'
import type { Template } from './template.ts'

const TEMPLATES = { ...identity, ...definitions, ...runtime, ...jobs, ...tasks, ...history }

/** For an operation without its own templates. The request refers to any entity that fits its path. */
const PLAIN: readonly Template[] = [{}]

export function templatesOf(operationId: string): readonly Template[] {
  return TEMPLATES[operationId] ?? PLAIN
}

export const TEMPLATED: readonly string[] = Object.keys(TEMPLATES)
