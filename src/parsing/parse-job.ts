import { textIn } from '../config/file-text.ts'
import { type Memberships, membershipsOf } from '../files/groups-file.ts'
import { htpasswdUsersOf } from '../files/htpasswd-file.ts'
import { recordsOf } from '../files/records-file.ts'
import { type User, type Users, usersOf } from '../files/users-file.ts'
import { type RecordRows, tableOf } from '../policy/authz/records/record-table.ts'
import { storedRecordsOf } from '../policy/authz/records/stored-records.ts'

/** The results by kind of job. A thread transfers the head of a result as a whole, and its items in pieces. */
export interface ParsedLists {
  readonly users: ParsedList<{ readonly dummyHash: string }, User>
  readonly htpasswd: ParsedList<{ readonly dummyHash: string }, User>
  /** The groups and tenants of users. */
  readonly groups: ParsedList<object, Memberships>
  readonly records: ParsedList<RecordRows, string>
  /** The records in the response of an engine. */
  readonly stored: ParsedList<RecordRows, string>
}

export interface ParsedList<Head, Item> {
  readonly head: Head
  readonly items: readonly Item[]
}

/** A content to parse and check. */
export interface ParseJob<Kind extends keyof ParsedLists = keyof ParsedLists> {
  readonly kind: Kind
  /** The name of the file, for messages. */
  readonly file: string
  readonly content: Uint8Array
}

const RUN: { readonly [Kind in keyof ParsedLists]: (content: Buffer, file: string) => ParsedLists[Kind] } = {
  users: (content, file) => listOfUsers(usersOf(textIn(content), file)),
  htpasswd: (content, file) => listOfUsers(htpasswdUsersOf(textIn(content), file)),
  groups: (content, file) => ({ head: {}, items: membershipsOf(textIn(content), file) }),
  records: (content, file) => listOf(tableOf(recordsOf(textIn(content), file))),
  stored: (content) => listOf(tableOf(storedRecordsOf(content))),
}

/** Parses and checks a content. @throws ConfigError, or GatewayError for a response that is not a list of records */
export function runParseJob<Kind extends keyof ParsedLists>(job: ParseJob<Kind>): ParsedLists[Kind] {
  const { buffer, byteOffset, byteLength } = job.content
  return RUN[job.kind](Buffer.from(buffer, byteOffset, byteLength), job.file)
}

function listOfUsers({ all, dummyHash }: Users): ParsedLists['users'] {
  return { head: { dummyHash }, items: all }
}

function listOf({ rows, names }: ReturnType<typeof tableOf>): ParsedLists['records'] {
  return { head: rows, items: names }
}
