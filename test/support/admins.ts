import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Test } from 'tap'
import { recordsOf, USERS } from './people.ts'

/** Writes users who may do everything, with the password `demo`. Returns the settings that name the files, as YAML. */
export async function accessOfAdmins(t: Test, ids: readonly string[]): Promise<string> {
  const folder = t.testdir({})
  const [{ passwordHash, groups } = { passwordHash: '', groups: [] }] = USERS
  const users = ids.map((id) => ({ id, passwordHash, groups }))
  await writeFile(join(folder, 'users.yaml'), JSON.stringify({ users }))
  await writeFile(join(folder, 'records.yaml'), JSON.stringify({ authorizations: recordsOf([]) }))
  return `
identity: { source: file, file: ${folder}/users.yaml }
authorization: { records: { source: file, file: ${folder}/records.yaml } }
`
}
