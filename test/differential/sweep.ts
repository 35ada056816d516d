import { type Admin, type Json, rowsOf, textOf } from './admin.ts'
import { inParallel } from './in-parallel.ts'

/** Kinds of entities that a request may leave behind. */
export type Left =
  | 'instance'
  | 'task'
  | 'batch'
  | 'deployment'
  | 'user'
  | 'group'
  | 'tenant'
  | 'filter'
  | 'auth'
  | 'locks'

export const ALL_LEFT: readonly Left[] = [
  'batch',
  'instance',
  'task',
  'deployment',
  'user',
  'group',
  'tenant',
  'filter',
  'auth',
  'locks',
]

/** Returns whether an id belongs to the world, or to an entity that was created for a later request. */
export type IsKept = (id: string) => boolean

/** Removes the entities that requests have left behind, so that both worlds are again as they were built. */
export async function sweep(admin: Admin, left: Iterable<Left>, isKept: IsKept): Promise<void> {
  for (const kind of left) await SWEEPERS[kind](admin, isKept)
}

const WIDTH = 6
/** Resources that are deleted one after the other, because concurrent deletions would collide. */
const ALONE: ReadonlySet<string> = new Set(['deployment', 'history', 'process-instance', 'task'])

type Sweeper = (admin: Admin, isKept: IsKept) => Promise<void>

async function removeEach(
  { call, attempt }: Admin,
  list: string,
  { isKept, pathOf }: { isKept: IsKept; pathOf: (row: Json, id: string) => string | null },
): Promise<void> {
  await inParallel(
    rowsOf(await call('GET', list)),
    ALONE.has(list.split(/[/?]/)[1] ?? '') ? 1 : WIDTH,
    async (row) => {
      const id = textOf(row, 'id')
      const path = isKept(id) ? null : pathOf(row, id)
      if (path !== null) await attempt('DELETE', path)
    },
  )
}

const SWEEPERS: Readonly<Record<Left, Sweeper>> = {
  async instance(admin, isKept) {
    const skip = 'skipCustomListeners=true&skipIoMappings=true&skipSubprocesses=false'
    await removeEach(admin, '/process-instance', {
      isKept,
      pathOf: (_, id) => `/process-instance/${id}?${skip}`,
    })
    await removeEach(admin, '/history/process-instance?finished=true', {
      isKept,
      pathOf: (_, id) => `/history/process-instance/${id}`,
    })
  },
  async task(admin, isKept) {
    await removeEach(admin, '/task', {
      isKept,
      pathOf: ({ processInstanceId, caseInstanceId }, id) =>
        processInstanceId === null && caseInstanceId === null ? `/task/${id}` : null,
    })
    for (const row of rowsOf(await admin.call('GET', '/task?caseDefinitionKey=care')))
      if (!isKept(textOf(row, 'id'))) await admin.attempt('POST', `/task/${textOf(row, 'id')}/complete`, {})
  },
  batch: (admin, isKept) =>
    removeEach(admin, '/history/batch', { isKept, pathOf: (_, id) => `/batch/${id}?cascade=true` }),
  deployment: (admin, isKept) =>
    removeEach(admin, '/deployment', { isKept, pathOf: (_, id) => `/deployment/${id}?cascade=true` }),
  user: (admin, isKept) => removeEach(admin, '/user', { isKept, pathOf: (_, id) => `/user/${id}` }),
  group: (admin, isKept) => removeEach(admin, '/group', { isKept, pathOf: (_, id) => `/group/${id}` }),
  tenant: (admin, isKept) => removeEach(admin, '/tenant', { isKept, pathOf: (_, id) => `/tenant/${id}` }),
  filter: (admin, isKept) => removeEach(admin, '/filter', { isKept, pathOf: (_, id) => `/filter/${id}` }),
  auth: (admin, isKept) =>
    removeEach(admin, '/authorization', { isKept, pathOf: (_, id) => `/authorization/${id}` }),
  async locks({ call, attempt }) {
    for (const row of rowsOf(await call('GET', '/external-task?workerId=fetcher')))
      await attempt('POST', `/external-task/${textOf(row, 'id')}/unlock`)
  },
}
