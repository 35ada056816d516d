import { type Config, ConfigError, type IdentityConfig, sectionPathOf, settingsOf } from '../config/config.ts'
import { fileReasonOf } from '../config/file-text.ts'
import { shownPath } from '../config/shown-name.ts'
import { messageOf } from '../errors.ts'
import { contentDigestOf } from '../files/content-digest.ts'
import { fileKeyOf, type PolicyContent, type PolicyLedger } from './policy-ledger.ts'
import type { Logger } from '../log.ts'
import type { LoadedRecords } from '../policy/authz/records/records-source.ts'
import { type Memberships, withMemberships } from '../files/groups-file.ts'
import type { SourceState } from '../files/source-state.ts'
import type { Users } from '../files/users-file.ts'
import { createParser, type Parser } from '../parsing/parser.ts'
import { openWatchedFile, type WatchedFile } from '../files/watched-file.ts'

/** The source files. Each file is read and watched once, even if several engines share it. */
export interface SourceFiles {
  readonly users: (from: UsersSetting) => SourceFile<Users>
  /** The users of the file of groups of an htpasswd file. Empty without such a file. */
  readonly membershipIds: (from: UsersSetting) => readonly string[]
  readonly records: (from: FileSetting) => WatchedFile<LoadedRecords>
  /** Parses the response of an engine. */
  readonly parseStored: Parser['stored']
  readonly start: () => void
  readonly close: () => void
}

/** The last valid content of a file, or of several files together. */
export type SourceFile<T> = Pick<WatchedFile<T>, 'current' | 'state'>

type UsersSetting = Exclude<IdentityConfig, { readonly source: 'engine' }>

export interface FileSetting {
  readonly file: string
  readonly staleAfter: number
}

interface SourceFilesOptions {
  readonly log: Logger
  /** Whether the process serves requests, which reading must not delay. */
  readonly isServing: boolean
  /** Receives each content that is in force. */
  readonly ledger: Pick<PolicyLedger, 'set'>
}

/**
 * Opens and reads all files of users and records.
 * @throws ConfigError that names every problem of every file
 */
export async function openSourceFiles(
  config: Config,
  { log, isServing, ledger }: SourceFilesOptions,
): Promise<SourceFiles> {
  const settings = Object.entries(config.engines).map(([name, engine]) => ({
    ...settingsOf(config, engine),
    identityPath: sectionPathOf(name, engine, 'identity'),
    recordsPath: `${sectionPathOf(name, engine, 'authorization')}.records`,
  }))
  const problems: string[] = []
  const shared = { ledger, log, problems }
  const parser = createParser()
  if (isServing) parser.startServing()
  const usersSettings = settings.flatMap(({ identity, identityPath: path }) =>
    identity.source === 'engine' ? [] : [{ ...identity, path }],
  )
  const [users, htpasswd] = [
    await openEach(
      usersSettings.filter(({ source }) => source === 'file'),
      { parse: parser.users, contentOf: usersContent, ...shared },
    ),
    await openEach(
      usersSettings.filter(({ source }) => source === 'htpasswd'),
      { parse: parser.htpasswd, contentOf: usersContent, ...shared },
    ),
  ]
  const groups = await openEach(usersSettings.flatMap(groupsSettingsOf), {
    parse: parser.groups,
    contentOf: membershipsContent,
    ...shared,
  })
  const records = await openEach(
    settings.map(({ authorization, recordsPath }) => ({ ...authorization.records, path: recordsPath })),
    { parse: parser.records, contentOf: recordsContent, ...shared },
  )
  const all = [users, htpasswd, groups, records].flatMap((files: ReadonlyMap<string, Watched>) => [
    ...files.values(),
  ])
  // Engines that share a file report the same problems.
  if (problems.length > 0) throw new ConfigError('The configuration', [...new Set(problems)])
  return {
    users: (from) => {
      if (from.source === 'file') return openedFile(users, from)
      const [groupsFrom] = groupsSettingsOf({ ...from, path: '' })
      const passwords = openedFile(htpasswd, from)
      return groupsFrom === undefined ? passwords : joined(passwords, openedFile(groups, groupsFrom))
    },
    membershipIds: (from) =>
      groupsSettingsOf({ ...from, path: '' }).flatMap((setting) => [
        ...(openedFile(groups, setting).current()?.keys() ?? []),
      ]),
    records: (from) => openedFile(records, from),
    parseStored: parser.stored,
    start: () => {
      parser.startServing()
      for (const file of all) file.start()
    },
    close: () => {
      for (const file of all) file.close()
      parser.close()
    },
  }
}

interface SourceFileOptions<T> {
  readonly parse: (content: Buffer, file: string) => Promise<T>
  readonly contentOf: (content: T, digest: string) => PolicyContent
  readonly ledger: Pick<PolicyLedger, 'set'>
  readonly log: Logger
  /** Receives a line for each problem. */
  readonly problems: string[]
}

type Watched = Pick<WatchedFile<unknown>, 'start' | 'close'>

/** A setting, and the path of its section in the configuration. */
type SourceSetting = (FileSetting | { readonly source: 'engine' }) & {
  readonly path: string
  /** The key of the file name. Default: `file`. */
  readonly key?: string
}

/** Returns the setting of the file with the groups of the users in an htpasswd file, if there is one. */
function groupsSettingsOf(setting: UsersSetting & { readonly path: string }) {
  if (setting.source !== 'htpasswd' || setting.groupsFile === undefined) return []
  const { groupsFile: file, staleAfter, path } = setting
  return [{ file, staleAfter, path, key: 'groupsFile' }]
}

/** Joins passwords and groups. Without one of them, there are no users: a user without groups might have more permissions. */
function joined(
  passwords: SourceFile<Users>,
  groups: SourceFile<ReadonlyMap<string, Memberships>>,
): SourceFile<Users> {
  let last: { readonly from: readonly unknown[]; readonly users: Users } | null = null
  return {
    current: () => {
      const from = [passwords.current(), groups.current()] as const
      const [users, memberships] = from
      if (users === null || memberships === null) return null
      if (last === null || last.from[0] !== users || last.from[1] !== memberships)
        last = { from, users: withMemberships(users, memberships) }
      return last.users
    },
    state: () => joinedState(passwords.state(), groups.state()),
  }
}

function joinedState(one: SourceState, other: SourceState): SourceState {
  const ages = [one.ageMs, other.ageMs].filter((ageMs) => ageMs !== null)
  return { problem: one.problem ?? other.problem, ageMs: ages.length < 2 ? null : Math.max(...ages) }
}

async function openEach<T extends object>(
  settings: readonly SourceSetting[],
  { parse, contentOf, ledger, log, problems }: SourceFileOptions<T>,
): Promise<ReadonlyMap<string, WatchedFile<T>>> {
  const files = new Map<string, WatchedFile<T>>()
  for (const setting of settings) {
    if (!('file' in setting) || files.has(settingKeyOf(setting))) continue
    const { file, staleAfter, path, key = 'file' } = setting
    /** The digests of parsed contents. A content that is refused later must not be taken for the content in force. */
    const digests = new WeakMap<T, string>()
    const tell = (content: T | null): void => {
      const digest = content === null ? undefined : digests.get(content)
      if (content !== null && digest !== undefined) ledger.set(fileKeyOf(file), contentOf(content, digest))
    }
    try {
      const watched = await openWatchedFile({
        path: file,
        parse: async (content) => {
          const digest = await contentDigestOf(content)
          const parsed = await parse(content, file)
          digests.set(parsed, digest)
          return parsed
        },
        staleAfterMs: staleAfter,
        onLook: (problem, error) => {
          logLook(log, file, problem === null ? null : problemsOf(error))
          if (problem === null) tell(files.get(settingKeyOf(setting))?.current() ?? null)
        },
      })
      files.set(settingKeyOf(setting), watched)
      tell(watched.current())
    } catch (error) {
      const reason = fileReasonOf(error)
      problems.push(
        ...(reason === null
          ? problemsOf(error).map((problem) => `${shownPath(file)}: ${problem}`)
          : [`${path}.${key}: ${shownPath(file)} ${reason}`]),
      )
    }
  }
  return files
}

function usersContent({ all }: Users, digest: string): PolicyContent {
  return { kind: 'users', digest, users: all }
}

function membershipsContent(memberships: ReadonlyMap<string, Memberships>, digest: string): PolicyContent {
  return { kind: 'users', digest, users: [...memberships.values()] }
}

function recordsContent({ table }: LoadedRecords, digest: string): PolicyContent {
  return { kind: 'records', digest, table }
}

function openedFile<T>(files: ReadonlyMap<string, T>, setting: FileSetting): T {
  const file = files.get(settingKeyOf(setting))
  if (file === undefined) throw new Error(`${setting.file} was not opened`)
  return file
}

function settingKeyOf({ file, staleAfter }: FileSetting): string {
  return `${staleAfter} ${file}`
}

/** Maximum number of problems in one log line. Without it, a file with many mistakes would produce a line of a megabyte. */
const MAX_LOGGED = 20

function logLook(log: Logger, file: string, problems: readonly string[] | null): void {
  if (problems === null) log.info({ file }, 'file reloaded')
  else
    log.warn(
      { file, problems: problems.slice(0, MAX_LOGGED), count: problems.length },
      'cannot load the file; its last valid content stays in use',
    )
}

function problemsOf(error: unknown): readonly string[] {
  if (error instanceof ConfigError) return error.problems
  const reason = fileReasonOf(error)
  return [reason === null ? messageOf(error) : `the file ${reason}`]
}
