import { constants } from 'node:fs'
import { access, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Command } from 'commander'
import { messageOf } from '../errors.ts'
import { counted } from '../pipeline/plural.ts'
import { readIdentities, readRecords } from '../transfer/engine-content.ts'
import type { ExportedFile, Omission } from '../transfer/exported-file.ts'
import { exportRecords } from '../transfer/exported-records.ts'
import { exportUsers } from '../transfer/exported-users.ts'
import { CommandError } from './command-failure.ts'
import { type CommandContext, FORMAT_OPTION, notesText } from './command.ts'
import { linesText, printResponse } from './output.ts'
import { addEngineOptions, withEngine } from './with-engine.ts'

/** The names of the files in the folder. */
const FILES = { users: 'groups.yaml', records: 'authorizations.json' } as const

export function addExportCommand(program: Command, context: CommandContext): void {
  const command = program
    .command('export')
    .description('write the users, groups, tenants and records of an engine as files of the gateway')
  addEngineOptions(command)
    .requiredOption('-o, --out <FOLDER>', 'the folder for the files; it is created if it is missing')
    .option('--force', 'replace the files if they exist')
    .addOption(FORMAT_OPTION)
    .addHelpText('after', notesText(NOTES))
    .action(
      context.exitsOr2(async ({ out, force, format, ...flags }) => {
        const paths = [FILES.users, FILES.records].map((name) => join(out, name))
        await prepareFolder(out, paths, force === true)
        const files = await withEngine(flags, context, async ({ reading }) => {
          const identities = await readIdentities(reading)
          const stored = await readRecords(reading)
          return {
            counts: { users: identities.users.length, records: stored.length },
            exported: [exportUsers(identities), exportRecords(stored)],
          }
        })
        for (const [at, file] of files.exported.entries()) await writeChecked(paths[at] ?? '', file)
        const omissions = files.exported.flatMap((file) => file.omissions)
        printResponse(context, format, {
          text: () => formatExport(paths, files.counts, omissions),
          json: () => ({ files: paths, ...files.counts, passwords: false, omissions }),
        })
        return 0
      }),
    )
}

const NOTES = {
  about: `The command writes groups.yaml, with the groups and tenants of each user, and authorizations.json, with the
authorization records. It only reads from the engine. The account must be allowed to read all users, groups,
tenants and authorizations. The files are in a fixed order, so that a later export can be compared with
diff. Before the command ends, it reads the files as the gateway does. Passwords cannot be exported. All other
content of the engine that the files cannot contain is reported, with --format json completely. An engine may
have 300,000 users and 300,000 records.`,
  examples: [
    'engine-gateway export --config gateway.yaml --out exported',
    'engine-gateway export --url http://engine:8080/engine-rest --user demo --password-file pw --out exported',
  ],
  exitCodes: [
    [0, 'the files are written'],
    [2, 'no files: invalid arguments, files that exist, or an engine that does not respond'],
  ],
} as const

async function prepareFolder(folder: string, paths: readonly string[], force: boolean): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 }).catch((error: unknown) => {
    throw new CommandError(messageOf(error), { cause: error })
  })
  if (force) return
  for (const path of paths) {
    const exists = await access(path, constants.F_OK).then(
      () => true,
      () => false,
    )
    if (exists) throw new CommandError(`${path} exists: use --force to replace it`)
  }
}

/**
 * Writes a file, reads it again as the gateway does, and compares. The file gets its name only if it is equal, so that a gateway that
 * watches the name never reads another content.
 */
async function writeChecked(path: string, { text, parsed }: ExportedFile): Promise<void> {
  const part = `${path}.part`
  try {
    await rm(part, { force: true })
    await writeFile(part, text, { mode: 0o600, flag: 'wx' })
    if (parsed(await readFile(part, 'utf8')) !== text)
      throw new CommandError(
        `${path} was not written: the gateway would read other content from it than the engine has`,
      )
    await rename(part, path)
  } catch (error) {
    await rm(part, { force: true })
    throw error instanceof Error && 'code' in error
      ? new CommandError(messageOf(error), { cause: error })
      : error
  }
}

/** Maximum number of names in a line. */
const MAX_NAMED = 10

function formatExport(
  paths: readonly string[],
  { users, records }: { readonly users: number; readonly records: number },
  omissions: readonly Omission[],
): string {
  return linesText([
    `${counted(users, 'user')} and ${counted(records, 'record')} read`,
    ...paths.map((path) => `written, and read again: ${path}`),
    ...omissions.map(lineOfOmission),
    'Passwords cannot be exported: the engine does not show their hashes. To keep the passwords in the engine:',
    '  identity: { source: engine }',
    `  authorization: { records: { source: file, file: ${FILES.records} } }`,
    'To create new passwords with htpasswd -B:',
    `  identity: { source: htpasswd, file: htpasswd, groupsFile: ${FILES.users} }`,
  ])
}

function lineOfOmission({ what, items }: Omission): string {
  const more = items.length > MAX_NAMED ? `, and ${items.length - MAX_NAMED} more` : ''
  return `not in the files: ${what} (${items.length}): ${items.slice(0, MAX_NAMED).join('; ')}${more}`
}
