import type { Memberships } from '../files/groups-file.ts'
import { createUsers, indexById, type Users } from '../files/users-file.ts'
import type { StoredIndex } from '../policy/authz/records/engine-records.ts'
import { indexTable, type RecordTable } from '../policy/authz/records/record-table.ts'
import type { LoadedRecords } from '../policy/authz/records/records-source.ts'
import { inSlices } from './in-slices.ts'
import { type ParsedLists, type ParseJob, runParseJob } from './parse-job.ts'
import { parseLimits } from './parse-limits.ts'
import { ParsingThreads } from './parsing-thread.ts'

/** Parses, checks and indexes users and records. Long contents do not delay requests. The given bytes must not be used afterwards. */
export interface Parser {
  /** @throws ConfigError that names every problem */
  readonly users: (content: Buffer, file: string) => Promise<Users>
  /** @throws ConfigError that names every problem */
  readonly htpasswd: (content: Buffer, file: string) => Promise<Users>
  /** Parses the groups and tenants of users, by user id. @throws ConfigError that names every problem */
  readonly groups: (content: Buffer, file: string) => Promise<ReadonlyMap<string, Memberships>>
  /** @throws ConfigError that names every problem */
  readonly records: (content: Buffer, file: string) => Promise<LoadedRecords>
  /** Parses the records in the response of an engine. @throws Error if it is not a list of records */
  readonly stored: (content: Buffer) => Promise<StoredIndex>
  /** Called before the first request. From now on, only short contents are parsed without a thread. */
  readonly startServing: () => void
  /** Stops parsing. Parsing in progress fails. */
  readonly close: () => void
}

export function createParser(limits = parseLimits()): Parser {
  const threads = new ParsingThreads(limits)
  let inlineBytes = limits.inlineBytesAtStart
  const parse = async <Kind extends keyof ParsedLists>(job: ParseJob<Kind>): Promise<ParsedLists[Kind]> => {
    const isInline = job.content.length <= (job.kind === 'stored' ? limits.inlineBytesOfJson : inlineBytes)
    return isInline ? runParseJob(job) : threads.run(job)
  }
  const parseUsers = async (job: ParseJob<'users' | 'htpasswd'>): Promise<Users> => {
    const { head, items } = await parse(job)
    return createUsers(items, await inSlices(indexById(items)), head.dummyHash)
  }
  return {
    users: (content, file) => parseUsers({ kind: 'users', content, file }),
    htpasswd: (content, file) => parseUsers({ kind: 'htpasswd', content, file }),
    groups: async (content, file) => {
      const { items } = await parse({ kind: 'groups', content, file })
      return inSlices(indexById(items))
    },
    records: async (content, file) => {
      const { head, items } = await parse({ kind: 'records', content, file })
      return indexed({ rows: head, names: items })
    },
    stored: async (content) => {
      const { head, items } = await parse({ kind: 'stored', content, file: '' })
      return { ...(await indexed({ rows: head, names: items })), partlyRead: head.partlyRead }
    },
    startServing: () => (inlineBytes = limits.inlineBytes),
    close: () => threads.close(),
  }
}

async function indexed(table: RecordTable): Promise<LoadedRecords> {
  return { index: await inSlices(indexTable(table)), table }
}
