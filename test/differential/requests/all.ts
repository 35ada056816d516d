import { counts } from './counts.ts'
import { definitions } from './definitions.ts'
import { history } from './history.ts'
import { identity } from './identity.ts'
import { jobs } from './jobs.ts'
import { runtime } from './runtime.ts'
import { operationLog, statistics } from './statistics.ts'
import { tasks } from './tasks.ts'
import type { Template, Templates } from './template.ts'

const TEMPLATES: Templates = { ...identity, ...definitions, ...runtime, ...jobs, ...tasks, ...history }

/** Further templates by subject. Some callers send mostly requests of one subject. */
export const SUBJECTS = { counts, statistics, operationLog } as const

/** For an operation without its own templates. The request refers to any entity that fits its path. */
const PLAIN: readonly Template[] = [{}]

export function templatesOf(operationId: string): readonly Template[] {
  const subjects: readonly Templates[] = Object.values(SUBJECTS)
  const more = subjects.flatMap((templates) => templates[operationId] ?? [])
  return [...(TEMPLATES[operationId] ?? PLAIN), ...more]
}
